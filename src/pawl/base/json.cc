#include "pawl/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "pawl/base/decimal.h"

namespace pawl {
namespace {

// Up to here a search from the front is as fast as one through an index.
constexpr std::size_t kUnindexedMembersMax = 16;
constexpr std::size_t kInt64DigitsMax = 20;
constexpr std::size_t kKeyBytesInMessageMax = 80;

template <class T>
std::optional<T> whole_integer(std::string_view text) {
  T value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class T>
std::optional<T> integer_value(const std::string& text) {
  if (const auto plain = whole_integer<T>(text)) return plain;
  const auto spelled_out = integer_text(Decimal::parse(text), kInt64DigitsMax);
  if (!spelled_out) return std::nullopt;
  return whole_integer<T>(*spelled_out);
}

template <class T>
JsonNumber number_of(T value) {
  char buffer[32];
  const auto written = std::to_chars(std::begin(buffer), std::end(buffer), value);
  PAWL_ASSERT(written.ec == std::errc{});
  return JsonNumber{std::string(std::begin(buffer), written.ptr)};
}

// What operator== of strings does, with one call in place of two.
bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

// For few members, where comparing all of them is faster than sorting.
bool has_repeated_key(const std::vector<JsonMember>& members) {
  for (std::size_t i = 1; i < members.size(); ++i) {
    for (std::size_t before = 0; before < i; ++before) {
      if (same(members[i].key, members[before].key)) return true;
    }
  }
  return false;
}

}  // namespace

JsonNumber JsonNumber::of(std::int64_t value) {
  return number_of(value);
}
JsonNumber JsonNumber::of(std::uint64_t value) {
  return number_of(value);
}
JsonNumber JsonNumber::of(double value) {
  PAWL_ASSERT(std::isfinite(value));
  return number_of(value);
}

std::optional<std::int64_t> JsonNumber::as_int64() const {
  return integer_value<std::int64_t>(text);
}
std::optional<std::uint64_t> JsonNumber::as_uint64() const {
  return integer_value<std::uint64_t>(text);
}

double JsonNumber::as_double() const {
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc::result_out_of_range) return value;
  // Out of range is two cases: too small reads as zero, too large as infinity.
  const Decimal exact = Decimal::parse(text);
  const double size = exact.magnitude() < 0 ? 0 : std::numeric_limits<double>::infinity();
  return exact.negative ? -size : size;
}

JsonObject::JsonObject() = default;
JsonObject::JsonObject(const JsonObject&) = default;
JsonObject::JsonObject(JsonObject&&) noexcept = default;
JsonObject& JsonObject::operator=(const JsonObject&) = default;
JsonObject& JsonObject::operator=(JsonObject&&) noexcept = default;
JsonObject::~JsonObject() = default;

bool operator==(const JsonObject& a, const JsonObject& b) {
  return a.members_ == b.members_;
}

Result<JsonObject> JsonObject::from_members(std::vector<JsonMember> members) {
  JsonObject object;
  object.members_ = std::move(members);
  const bool is_small = object.members_.size() <= kUnindexedMembersMax;
  if (is_small && !has_repeated_key(object.members_)) return object;
  std::vector<std::string_view> keys;
  keys.reserve(object.members_.size());
  for (const JsonMember& member : object.members_) keys.push_back(member.key);
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice != keys.end()) {
    std::string message = "the key ";
    append_json_string(message, twice->substr(0, kKeyBytesInMessageMax));
    return Error{ErrorCode::invalid_argument, message + " occurs twice in one object"};
  }
  object.rebuild_index();
  return object;
}

std::size_t JsonObject::size() const {
  return members_.size();
}

void JsonObject::rebuild_index() {
  by_key_.clear();
  if (members_.size() <= kUnindexedMembersMax) return;
  PAWL_ASSERT(members_.size() <= std::numeric_limits<std::uint32_t>::max());
  by_key_.resize(members_.size());
  for (std::size_t i = 0; i < by_key_.size(); ++i) by_key_[i] = static_cast<std::uint32_t>(i);
  std::sort(by_key_.begin(), by_key_.end(),
            [this](std::uint32_t a, std::uint32_t b) { return members_[a].key < members_[b].key; });
}

std::size_t JsonObject::lower_bound(std::string_view key) const {
  const auto at = std::lower_bound(by_key_.begin(), by_key_.end(), key,
                                   [this](std::uint32_t index, std::string_view wanted) {
                                     return members_[index].key < wanted;
                                   });
  return static_cast<std::size_t>(at - by_key_.begin());
}

std::optional<std::size_t> JsonObject::position(std::string_view key) const {
  if (by_key_.empty()) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (same(members_[i].key, key)) return i;
    }
    return std::nullopt;
  }
  const std::size_t at = lower_bound(key);
  if (at == by_key_.size() || members_[by_key_[at]].key != key) return std::nullopt;
  return by_key_[at];
}

const Json* JsonObject::find(std::string_view key) const {
  const auto at = position(key);
  return at ? &members_[*at].value : nullptr;
}

Json* JsonObject::find(std::string_view key) {
  const auto at = position(key);
  return at ? &members_[*at].value : nullptr;
}

void JsonObject::set(std::string key, Json value) {
  if (Json* const existing = find(key)) {
    *existing = std::move(value);
    return;
  }
  if (by_key_.empty()) {
    members_.push_back({std::move(key), std::move(value)});
    return rebuild_index();
  }
  const auto at = static_cast<std::ptrdiff_t>(lower_bound(key));
  by_key_.insert(by_key_.begin() + at, static_cast<std::uint32_t>(members_.size()));
  members_.push_back({std::move(key), std::move(value)});
}

bool JsonObject::remove(std::string_view key) {
  const auto at = position(key);
  if (!at) return false;
  members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(*at));
  rebuild_index();
  return true;
}

std::string_view name(JsonKind kind) {
  switch (kind) {
    case JsonKind::null:
      return "null";
    case JsonKind::boolean:
      return "boolean";
    case JsonKind::number:
      return "number";
    case JsonKind::string:
      return "string";
    case JsonKind::array:
      return "array";
    case JsonKind::object:
      return "object";
  }
  return "unknown";
}

std::optional<std::int64_t> Json::as_int64() const {
  return is_number() ? number().as_int64() : std::nullopt;
}
std::optional<std::uint64_t> Json::as_uint64() const {
  return is_number() ? number().as_uint64() : std::nullopt;
}

const Json* Json::find(std::string_view key) const {
  return is_object() ? object().find(key) : nullptr;
}

const std::string* Json::find_string(std::string_view key) const {
  const Json* const member = find(key);
  return member != nullptr ? member->if_string() : nullptr;
}

bool operator==(const Json& a, const Json& b) {
  return a.value_ == b.value_;
}

}  // namespace pawl
