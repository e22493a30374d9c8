// Strict JSON (RFC 8259): a value, its reader and its writers. What strict means, case by case, is
// in docs/json.md.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pawl/result.h"

namespace pawl {

class Json;
struct JsonMember;
using JsonArray = std::vector<Json>;

// A number keeps its source text: 1.0 stays 1.0, and long integers lose nothing.
struct JsonNumber {
  std::string text = "0";

  static JsonNumber of(std::int64_t value);
  static JsonNumber of(std::uint64_t value);
  // The shortest text that reads back as `value`, which must be finite.
  static JsonNumber of(double value);

  // The value if it is an integer that fits, however it is spelled: 1, 1.0 and 10e-1 are all 1.
  std::optional<std::int64_t> as_int64() const;
  std::optional<std::uint64_t> as_uint64() const;
  // The nearest double.
  double as_double() const;

  friend bool operator==(const JsonNumber&, const JsonNumber&) = default;
};

// Members in the order they were written; keys are unique.
class JsonObject {
 public:
  JsonObject();
  JsonObject(const JsonObject&);
  JsonObject(JsonObject&&) noexcept;
  JsonObject& operator=(const JsonObject&);
  JsonObject& operator=(JsonObject&&) noexcept;
  ~JsonObject();

  // Takes all members at once, faster than set() one by one; a key that occurs twice is an error.
  static Result<JsonObject> from_members(std::vector<JsonMember> members);

  const std::vector<JsonMember>& members() const { return members_; }
  std::size_t size() const;
  bool empty() const { return members_.empty(); }
  // The member's value, or null. The pointer lives until the object changes.
  const Json* find(std::string_view key) const;
  Json* find(std::string_view key);
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  // Replaces the member's value in place, or appends a member.
  void set(std::string key, Json value);
  // Removes the member and says whether there was one.
  bool remove(std::string_view key);

  friend bool operator==(const JsonObject&, const JsonObject&);

 private:
  // The first place in by_key_ whose key is not less than `key`.
  std::size_t lower_bound(std::string_view key) const;
  std::optional<std::size_t> position(std::string_view key) const;
  void rebuild_index();

  std::vector<JsonMember> members_;
  // Positions in members_, sorted by key, once the object is too large to search. Sorted rather
  // than hashed: no choice of keys can make it slow.
  std::vector<std::uint32_t> by_key_;
};

enum class JsonKind : std::uint8_t { null, boolean, number, string, array, object };

std::string_view name(JsonKind kind);

// One JSON value. Equality is that of the written text: 1 and 1.0 differ, and so does the order of
// members. For equality of values, see equal_values() in decimal.h.
class Json {
 public:
  Json() = default;
  Json(std::nullptr_t) {}                                       // NOLINT
  Json(bool value) : value_(value) {}                           // NOLINT
  Json(JsonNumber value) : value_(std::move(value)) {}          // NOLINT
  Json(double value) : value_(JsonNumber::of(value)) {}         // NOLINT
  Json(std::string value) : value_(std::move(value)) {}         // NOLINT
  Json(std::string_view value) : value_(std::string(value)) {}  // NOLINT
  Json(const char* value) : value_(std::string(value)) {}       // NOLINT
  Json(JsonArray value) : value_(std::move(value)) {}           // NOLINT
  Json(JsonObject value) : value_(std::move(value)) {}          // NOLINT
  template <std::signed_integral T>
  Json(T value) : Json(JsonNumber::of(std::int64_t{value})) {}  // NOLINT
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  Json(T value) : Json(JsonNumber::of(std::uint64_t{value})) {}  // NOLINT

  JsonKind kind() const { return static_cast<JsonKind>(value_.index()); }
  bool is_null() const { return kind() == JsonKind::null; }
  bool is_boolean() const { return kind() == JsonKind::boolean; }
  bool is_number() const { return kind() == JsonKind::number; }
  bool is_string() const { return kind() == JsonKind::string; }
  bool is_array() const { return kind() == JsonKind::array; }
  bool is_object() const { return kind() == JsonKind::object; }

  // For values whose kind is not known yet: null if it is another one.
  const bool* if_boolean() const { return std::get_if<bool>(&value_); }
  const JsonNumber* if_number() const { return std::get_if<JsonNumber>(&value_); }
  const std::string* if_string() const { return std::get_if<std::string>(&value_); }
  const JsonArray* if_array() const { return std::get_if<JsonArray>(&value_); }
  const JsonObject* if_object() const { return std::get_if<JsonObject>(&value_); }
  JsonArray* if_array() { return std::get_if<JsonArray>(&value_); }
  JsonObject* if_object() { return std::get_if<JsonObject>(&value_); }

  // For values whose kind is known: another one is a bug and stops the process.
  bool boolean() const { return checked(if_boolean()); }
  const JsonNumber& number() const { return checked(if_number()); }
  const std::string& string() const { return checked(if_string()); }
  const JsonArray& array() const { return checked(if_array()); }
  const JsonObject& object() const { return checked(if_object()); }
  JsonArray& array() { return checked(if_array()); }
  JsonObject& object() { return checked(if_object()); }

  // Empty unless this is a number that fits.
  std::optional<std::int64_t> as_int64() const;
  std::optional<std::uint64_t> as_uint64() const;

  // The member of an object; null if there is none or this is not an object.
  const Json* find(std::string_view key) const;
  // The member if it exists and is a string; null otherwise.
  const std::string* find_string(std::string_view key) const;

  friend bool operator==(const Json&, const Json&);

 private:
  template <class T>
  static T& checked(T* value) {
    PAWL_ASSERT(value != nullptr);
    return *value;
  }

  // The alternatives stand in the order of JsonKind.
  std::variant<std::monostate, bool, JsonNumber, std::string, JsonArray, JsonObject> value_;
};

struct JsonMember {
  std::string key;
  Json value;

  friend bool operator==(const JsonMember&, const JsonMember&) = default;
};

struct JsonLimits {
  std::size_t bytes_max = 64U << 20U;
  std::size_t depth_max = 128;
  std::size_t values_max = 1'000'000;
};

// Reads a text that is exactly one value. The message of an error has line and column (in bytes,
// from 1). A limit that is reached is ErrorCode::limit_exceeded, all else invalid_argument.
Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});
// The same strictness; keeps nothing of the text.
Status check_json(std::string_view text, const JsonLimits& limits = {});

// Compact; the order of members and the text of numbers are kept.
std::string write_json(const Json& value);
void append_json(std::string& out, const Json& value);
// A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view utf8);

// Writes one JSON text piece by piece. Misuse (a value without its key, an end without its begin)
// is a bug and stops the process. Unlike Json it does not notice a repeated key.
class JsonWriter {
 public:
  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view key);
  JsonWriter& string(std::string_view utf8);
  JsonWriter& number(std::int64_t value);
  JsonWriter& number(std::uint64_t value);
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  JsonWriter& number(T value) {
    if constexpr (std::signed_integral<T>) return number(std::int64_t{value});
    return number(static_cast<std::uint64_t>(value));
  }
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  JsonWriter& value(const Json& value);
  // `json` is one JSON value already.
  JsonWriter& raw(std::string_view json);

  JsonWriter& field(std::string_view name, std::string_view text) { return key(name).string(text); }
  JsonWriter& field(std::string_view name, const char* text) { return key(name).string(text); }
  JsonWriter& field(std::string_view name, const std::string& text) {
    return key(name).string(text);
  }
  JsonWriter& field(std::string_view name, const Json& json) { return key(name).value(json); }
  JsonWriter& field(std::string_view name, bool flag) { return key(name).boolean(flag); }
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  JsonWriter& field(std::string_view name, T integer) {
    return key(name).number(integer);
  }

  // The finished text; the writer is as new afterwards.
  std::string take();

 private:
  enum class Open : std::uint8_t { object, array };

  void begin_value();
  void end_value();
  JsonWriter& begin(Open kind, char bracket);
  JsonWriter& end(Open kind, char bracket);

  std::string out_;
  std::vector<Open> open_;
  // What may come next: only a key, only a value, or (at the top, once) nothing.
  enum class Expects : std::uint8_t { value, key, nothing } expects_ = Expects::value;
  bool first_ = true;  // Nothing stands yet between the innermost bracket and here.
};

}  // namespace pawl
