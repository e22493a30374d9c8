// Reads one JSON text in one pass into a flat list of values that refer to its bytes: no tree, and
// no allocation once the list has grown. For messages that are read and forgotten at once, such as
// the events of a stream. As strict as parse_json (docs/json.md), with the same errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/json.h"

namespace pawl {

class FlatJson;

// One value of a FlatJson, or none: what is looked up and absent. Valid until the next read().
class FlatValue {
 public:
  FlatValue() = default;  // none
  explicit operator bool() const { return json_ != nullptr; }

  bool is(JsonKind kind) const;  // false of none
  bool is_null() const { return is(JsonKind::null); }
  bool is_string() const { return is(JsonKind::string); }
  bool is_array() const { return is(JsonKind::array); }
  bool is_object() const { return is(JsonKind::object); }
  bool is_true() const;

  // The value of the member; none if there is none, or this is no object.
  FlatValue find(std::string_view key) const;
  // The characters of a string; empty for anything else.
  std::string_view text() const;
  // Those of the member of that name.
  std::string_view text(std::string_view key) const { return find(key).text(); }
  // Empty unless this is a number that fits, however it is spelled.
  std::optional<std::int64_t> as_int64() const;
  std::optional<std::uint64_t> as_uint64() const;

  // How many items or members an array or object has; 0 for anything else.
  std::size_t size() const;
  // The items of an array; none for anything else.
  class Items;
  Items items() const;

  // A copy that lives by itself. Not of none.
  Json to_json() const;

 private:
  friend class FlatJson;
  FlatValue(const FlatJson* json, std::uint32_t index) : json_(json), index_(index) {}

  const FlatJson* json_ = nullptr;
  std::uint32_t index_ = 0;
};

class FlatValue::Items {
 public:
  class Iterator {
   public:
    Iterator(const FlatJson* json, std::uint32_t index) : json_(json), index_(index) {}
    FlatValue operator*() const { return {json_, index_}; }
    Iterator& operator++();
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const FlatJson* json_;
    std::uint32_t index_;
  };
  Items(Iterator begin, Iterator end) : begin_(begin), end_(end) {}
  Iterator begin() const { return begin_; }
  Iterator end() const { return end_; }

 private:
  Iterator begin_;
  Iterator end_;
};

class FlatJson {
 public:
  FlatJson() = default;
  FlatJson(const FlatJson&) = delete;
  FlatJson& operator=(const FlatJson&) = delete;

  // Reads a text that is exactly one value. The text must outlive the use of the value.
  Result<FlatValue> read(std::string_view text, const JsonLimits& limits = {});

  // What is kept at most between two texts: a large one gives its room back.
  static constexpr std::size_t kValuesKept = 256;
  static constexpr std::size_t kTextBytesKept = 4'096;

 private:
  friend class FlatValue;
  class Reader;

  // A value, or the key in front of a member's value. Those inside of it follow it.
  struct Node {
    std::uint32_t at = 0;    // of its characters: in the text, or in unescaped_
    std::uint32_t size = 0;  // of them; of an array or object: how many items or members
    std::uint32_t end = 0;   // the first node that is not inside of it
    JsonKind kind = JsonKind::null;
    enum class Place : std::uint8_t { text, unescaped } place = Place::text;
  };

  std::string_view characters(const Node& node) const {
    const bool raw = node.place == Node::Place::text;
    return (raw ? text_ : std::string_view(unescaped_)).substr(node.at, node.size);
  }
  void shrink();

  std::string_view text_;
  std::vector<Node> nodes_;
  std::string unescaped_;  // strings that had escapes
};

}  // namespace pawl
