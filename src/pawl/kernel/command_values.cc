#include "pawl/kernel/command_values.h"

#include <charconv>
#include <optional>

#include "pawl/base/schema.h"

namespace pawl {
namespace {

constexpr std::string_view kInputRef = "$input";

std::string unescaped(std::string_view token) {
  std::string text;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool escape = token[i] == '~' && i + 1 < token.size();
    if (!escape) {
      text += token[i];
      continue;
    }
    text += token[++i] == '1' ? '/' : '~';
  }
  return text;
}

const Json* item_at(const JsonArray& items, std::string_view token) {
  const bool plain = token == "0" || (!token.empty() && token.front() != '0');
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  const bool whole = plain && error == std::errc() && end == token.data() + token.size();
  return whole && index < items.size() ? &items[index] : nullptr;
}

const Json* member_at(const Json& value, std::string_view token) {
  if (const JsonArray* items = value.if_array()) return item_at(*items, token);
  const JsonObject* object = value.if_object();
  return object == nullptr ? nullptr : object->find(unescaped(token));
}

// The pointer of { "$input": POINTER }.
std::optional<std::string_view> reference_in(const Json& value) {
  const JsonObject* object = value.if_object();
  if (object == nullptr || object->size() != 1) return std::nullopt;
  const std::string* pointer = value.find_string(kInputRef);
  return pointer == nullptr ? std::nullopt : std::optional<std::string_view>(*pointer);
}

}  // namespace

const Json* find_at(const Json& value, std::string_view pointer) {
  const Json* at = &value;
  if (pointer.empty()) return at;
  if (pointer.front() != '/') return nullptr;
  while (at != nullptr && !pointer.empty()) {
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    at = member_at(*at, pointer.substr(0, end));
    pointer.remove_prefix(end);
  }
  return at;
}

std::string fault_of_input(const std::string& schema, const Json& input) {
  if (schema.empty()) return "";
  const auto json = parse_json(schema);
  if (!json) return json.error().message;
  const auto compiled = Schema::compile(*json);
  if (!compiled) return compiled.error().message;
  const auto faults = compiled->validate(input);
  return faults.empty() ? "" : "the input does not fit: " + describe(faults);
}

// Bounded by the depth of JSON that is read.
Result<Json> with_input(const Json& value, const Json& input) {
  if (const auto pointer = reference_in(value)) {
    if (const Json* found = find_at(input, *pointer)) return *found;
    return Error{ErrorCode::invalid_argument,
                 "the input has nothing at \"" + std::string(*pointer) + "\""};
  }
  if (const JsonArray* items = value.if_array()) {
    JsonArray made;
    for (const Json& item : *items) {
      PAWL_TRY(Json one, with_input(item, input));
      made.push_back(std::move(one));
    }
    return Json(std::move(made));
  }
  const JsonObject* object = value.if_object();
  if (object == nullptr) return value;
  JsonObject made;
  for (const JsonMember& member : object->members()) {
    PAWL_TRY(Json one, with_input(member.value, input));
    made.set(member.key, std::move(one));
  }
  return Json(std::move(made));
}

}  // namespace pawl
