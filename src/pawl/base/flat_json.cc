#include "pawl/base/flat_json.h"

#include <charconv>

#include "pawl/result.h"

namespace pawl {

bool FlatValue::is(JsonKind kind) const {
  return json_ != nullptr && json_->nodes_[index_].kind == kind;
}

bool FlatValue::is_true() const {
  return is(JsonKind::boolean) && json_->characters(json_->nodes_[index_]) == "true";
}

FlatValue FlatValue::find(std::string_view key) const {
  if (!is_object()) return {};
  const auto& nodes = json_->nodes_;
  const std::uint32_t end = nodes[index_].end;
  for (std::uint32_t at = index_ + 1; at < end; at = nodes[at + 1].end) {
    if (json_->characters(nodes[at]) == key) return {json_, at + 1};
  }
  return {};
}

std::string_view FlatValue::text() const {
  return is_string() ? json_->characters(json_->nodes_[index_]) : std::string_view();
}

std::optional<std::int64_t> FlatValue::as_int64() const {
  if (!is(JsonKind::number)) return std::nullopt;
  return JsonNumber{std::string(json_->characters(json_->nodes_[index_]))}.as_int64();
}

std::optional<std::uint64_t> FlatValue::as_uint64() const {
  if (!is(JsonKind::number)) return std::nullopt;
  const std::string_view digits = json_->characters(json_->nodes_[index_]);
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (fault == std::errc{} && end == digits.data() + digits.size()) return value;
  return JsonNumber{std::string(digits)}.as_uint64();
}

std::size_t FlatValue::size() const {
  return is_array() || is_object() ? json_->nodes_[index_].size : 0;
}

FlatValue::Items FlatValue::items() const {
  if (!is_array()) return {{nullptr, 0}, {nullptr, 0}};
  return {{json_, index_ + 1}, {json_, json_->nodes_[index_].end}};
}

FlatValue::Items::Iterator& FlatValue::Items::Iterator::operator++() {
  index_ = json_->nodes_[index_].end;
  return *this;
}

// Its depth is bounded by that of the text.
Json FlatValue::to_json() const {
  PAWL_ASSERT(json_ != nullptr);
  const FlatJson::Node& node = json_->nodes_[index_];
  switch (node.kind) {
    case JsonKind::null:
      return {};
    case JsonKind::boolean:
      return is_true();
    case JsonKind::number:
      return JsonNumber{std::string(json_->characters(node))};
    case JsonKind::string:
      return json_->characters(node);
    case JsonKind::array: {
      JsonArray array;
      array.reserve(node.size);
      for (const FlatValue item : items()) array.push_back(item.to_json());
      return array;
    }
    case JsonKind::object:
      break;
  }
  std::vector<JsonMember> members;
  members.reserve(node.size);
  for (std::uint32_t at = index_ + 1; at < node.end; at = json_->nodes_[at + 1].end) {
    members.push_back(
        {std::string(json_->characters(json_->nodes_[at])), FlatValue(json_, at + 1).to_json()});
  }
  return *JsonObject::from_members(std::move(members));
}

}  // namespace pawl
