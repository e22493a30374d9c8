#include "pawl/testing/sim/reference/marks.h"

#include "pawl/base/decimal.h"
#include "pawl/json.h"

namespace pawl::sim {

std::vector<std::string> marks_in(std::string_view text) {
  std::vector<std::string> marks;
  for (std::size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
    std::size_t end = at + 1;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    const bool whole = end > at + 1 && end < text.size() && text[end] == ';';
    if (whole) marks.emplace_back(text.substr(at, end + 1 - at));
  }
  return marks;
}

std::vector<std::string> marks_heard(const std::vector<Message>& messages) {
  std::vector<std::string> heard;
  for (const Message& message : messages) {
    if (message.role != Role::user) continue;
    for (std::string& mark : marks_in(bytes_of(message.text))) heard.push_back(std::move(mark));
  }
  return heard;
}

std::string bytes_of(const Content& content) {
  return content.bytes() == nullptr ? "" : *content.bytes();
}

std::string merged(const std::string& value, const std::string& patch) {
  const auto change = parse_json(patch);
  const JsonObject* changes = change ? change->if_object() : nullptr;
  if (changes == nullptr) return patch;
  auto result = parse_json(value);
  if (!result || !result->is_object()) result = Json(JsonObject());
  for (const JsonMember& member : changes->members()) {
    if (member.value.is_null()) {
      result->object().remove(member.key);
      continue;
    }
    const Json* before = result->find(member.key);
    const std::string inner = before == nullptr ? "null" : write_json(*before);
    const auto after = parse_json(merged(inner, write_json(member.value)));
    if (after) result->object().set(member.key, *after);
  }
  return write_json(*result);
}

bool same_json(const std::string& a, const std::string& b) {
  const auto one = parse_json(a);
  const auto other = parse_json(b);
  return one && other && equal_values(*one, *other);
}

std::string member_of(const std::string& object, std::string_view key) {
  const auto json = parse_json(object);
  const Json* member = json ? json->find(key) : nullptr;
  if (member == nullptr) return "";
  return member->if_string() != nullptr ? *member->if_string() : write_json(*member);
}

}  // namespace pawl::sim
