// A small tree of values in which every value knows where it was written, and a reader that turns
// such a tree into typed values and collects every complaint on the way. It knows no syntax: a
// format's adapter builds the tree.
//
// A Node is a plain value: copies are deep, destruction frees the tree, and concurrent reads are
// safe. Depth and node count are bounded by whoever builds it; the functions here recurse.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "pawl/result.h"

namespace pawl {

// A place in a document: 1-based, 0 when unknown. Columns count bytes. `file` tells the parts of a
// document that was put together from several files; 0 is its main file.
struct Mark {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t file = 0;

  friend bool operator==(const Mark&, const Mark&) = default;
};

// One complaint about a document. `remedy` says what to write instead; it may be empty.
struct Fault {
  Mark mark;
  std::string message;
  std::string remedy;

  friend bool operator==(const Fault&, const Fault&) = default;
};

// "file:3:7: message (remedy)". An unknown mark and an empty remedy are left out.
std::string to_string(const Fault& fault, std::string_view file);
// One to_string() per line.
std::string to_string(std::span<const Fault> faults, std::string_view file);

// A document that is wrong everywhere is not worth more complaints than somebody can read.
inline constexpr std::size_t kFaultsMax = 100;
// Appends unless there are kFaultsMax already.
void add_fault(std::vector<Fault>& faults, Fault fault);

struct Member;

class Node {
 public:
  enum class Kind : std::uint8_t { null, boolean, integer, decimal, string, list, map };

  Node() = default;  // null, at an unknown place
  static Node make_null(Mark mark);
  static Node make_bool(bool value, std::string text, Mark mark);
  // An integer that does not fit std::int64_t has no `value`, only its text.
  static Node make_integer(std::optional<std::int64_t> value, std::string text, Mark mark);
  static Node make_decimal(double value, std::string text, Mark mark);
  static Node make_string(std::string text, Mark mark);
  static Node make_list(std::vector<Node> items, Mark mark);
  // Keys must be distinct.
  static Node make_map(std::vector<Member> members, Mark mark);

  Kind kind() const { return kind_; }
  Mark mark() const { return mark_; }
  // Says of the whole tree that it was written in this file.
  void set_file(std::uint32_t file);

  // A scalar as it was written (a string: its contents); empty for null, lists and maps.
  std::string_view text() const { return text_; }
  std::optional<bool> as_bool() const;
  std::optional<std::int64_t> as_int() const;
  std::optional<double> as_double() const;  // integers too
  std::optional<std::string_view> as_string() const;

  // Empty unless this is a list.
  const std::vector<Node>& items() const;
  // Empty unless this is a map; in source order.
  const std::vector<Member>& members() const;
  // The value of `key`, or nullptr. Linear: maps of configuration are short.
  const Node* find(std::string_view key) const;

 private:
  using Value = std::variant<std::monostate, bool, std::int64_t, double, std::vector<Node>,
                             std::vector<Member>>;
  Node(Kind kind, Mark mark, std::string text, Value value);

  Kind kind_ = Kind::null;
  Mark mark_;
  std::string text_;
  Value value_;
};

struct Member {
  std::string key;
  Mark key_mark;
  Node value;
};

// For messages: "a list", "the string \"x\"", "the integer 3", "nothing". Long text is cut.
std::string describe_kind(const Node& node);

// `text` in double quotes for a message: cut after some 60 bytes, control characters escaped.
std::string quoted(std::string_view text);

// JSON text of the tree, without spaces. Numbers keep their text where it is JSON ("1.50" stays,
// "0x1F" becomes 31).
std::string to_json(const Node& node);

// "250ms", "30s", "10m", "1h", "2d", and a bare integer as seconds. Nothing else, no sign.
std::optional<std::int64_t> parse_duration_ms(std::string_view text);
// "90s": the largest unit that says it exactly.
std::string format_duration_ms(std::int64_t ms);
// "4096", "64KiB", "10MB" (K, M, G; KiB is 1024, KB or kB is 1000). Nothing else, no sign.
std::optional<std::int64_t> parse_bytes(std::string_view text);

// The one of `known` that `word` was probably meant to be, or empty.
std::string_view nearest(std::string_view word, std::span<const std::string> known);

// Both ends belong to the range.
struct IntRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

// Reads a map key by key. Nothing throws and nothing stops at the first complaint: a key that is
// absent leaves `out` as it was (so `out` starts as the default), a value of the wrong type or out
// of range is a fault and leaves `out` as it was, and finish() makes every key that nobody asked
// for a fault. The take_* functions return true exactly when they wrote `out`.
//
//   MapReader reader(node, faults, "server");
//   reader.require_string("host", server.host);
//   reader.take_int("port", {1, 65535}, server.port);
//   reader.finish();
//
// `where` names the map in messages. Node and faults outlive the reader. When the node is not a map
// the constructor makes that one fault and everything after it is silent.
class MapReader {
 public:
  MapReader(const Node& node, std::vector<Fault>& faults, std::string where);

  // The value of `key`, which is from now on a known key; nullptr when it is absent.
  const Node* take(std::string_view key);
  // take(), but absence is a fault at the map.
  const Node* require(std::string_view key);

  bool take_string(std::string_view key, std::string& out);
  bool require_string(std::string_view key, std::string& out);
  bool take_bool(std::string_view key, bool& out);
  bool take_double(std::string_view key, double low, double high, double& out);
  template <std::integral T>
  bool take_int(std::string_view key, IntRange range, T& out) {
    return narrow(read_int(key, range), range, out);
  }
  template <std::integral T>
  bool take_duration_ms(std::string_view key, IntRange range_ms, T& out_ms) {
    return narrow(read_duration_ms(key, range_ms), range_ms, out_ms);
  }
  template <std::integral T>
  bool take_bytes(std::string_view key, IntRange range, T& out) {
    return narrow(read_bytes(key, range), range, out);
  }
  // Every item must be a string; one that is not is a fault and `out` stays as it was.
  bool take_string_list(std::string_view key, std::vector<std::string>& out);
  // A string, or a list of at most `most` strings.
  bool take_strings(std::string_view key, std::size_t most, std::vector<std::string>& out);
  // The index in `words` of the value; any other value is a fault that lists them.
  std::optional<std::size_t> take_choice(std::string_view key,
                                         std::span<const std::string_view> words);
  // The value when it is a map or a list; another kind is a fault and nullptr.
  const Node* take_map(std::string_view key);
  const Node* take_list(std::string_view key);

  // A fault of the caller's own, prefixed like the reader's.
  void fault(Mark mark, std::string_view message, std::string remedy = {});

  // Call last: keys that were not taken are unknown.
  void finish();

 private:
  std::optional<std::int64_t> read_int(std::string_view key, IntRange range);
  std::optional<std::int64_t> read_duration_ms(std::string_view key, IntRange range_ms);
  std::optional<std::int64_t> read_bytes(std::string_view key, IntRange range);
  void expected(std::string_view key, std::string_view what, const Node& found);

  // A range that its own variable cannot hold is a bug of the caller.
  template <std::integral T>
  static bool narrow(std::optional<std::int64_t> value, IntRange range, T& out) {
    static_assert(!std::same_as<T, bool>);
    PAWL_ASSERT(std::in_range<T>(range.low) && std::in_range<T>(range.high));
    if (value) out = static_cast<T>(*value);
    return value.has_value();
  }

  const Node* map_;  // nullptr when the node was not a map
  std::vector<Fault>& faults_;
  std::string where_;
  std::vector<std::string> known_;
};

// What a text is as a document. There is a root exactly when there are no faults.
struct DocumentResult {
  std::optional<Node> root;
  std::vector<Fault> faults;
};
// An adapter's reader of such texts.
using DocumentParser = std::function<DocumentResult(std::string_view text)>;

}  // namespace pawl
