// The reading half of document.h: typed values out of a map, with every complaint collected.
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "pawl/base/document.h"

namespace pawl {

namespace {

// Words longer than this are not typing mistakes of a key, and the distance is quadratic.
constexpr std::size_t kSuggestBytesMax = 64;

struct Unit {
  std::string_view suffix;
  std::int64_t factor;
};

// digits, then exactly one of the suffixes.
std::optional<std::int64_t> parse_quantity(std::string_view text, std::span<const Unit> units) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || count < 0 || text.starts_with('-')) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  for (const Unit& unit : units) {
    if (text != unit.suffix) continue;
    if (count > std::numeric_limits<std::int64_t>::max() / unit.factor) return std::nullopt;
    return count * unit.factor;
  }
  return std::nullopt;
}

// Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

std::string shown(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

std::string shown_range(IntRange range) {
  return " from " + std::to_string(range.low) + " to " + std::to_string(range.high);
}

std::string shown_range_ms(IntRange range) {
  return " from " + format_duration_ms(range.low) + " to " + format_duration_ms(range.high);
}

std::optional<std::int64_t> inside(std::optional<std::int64_t> value, IntRange range) {
  const bool fits = value && *value >= range.low && *value <= range.high;
  return fits ? value : std::nullopt;
}

// A quantity is a string ("30s") or, without a unit, an integer.
std::string_view quantity_text(const Node& node) {
  const bool written = node.kind() == Node::Kind::string || node.kind() == Node::Kind::integer;
  return written ? node.text() : std::string_view();
}

std::string joined(std::span<const std::string> words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  const std::string_view meant = nearest(word, known);
  return meant.empty() ? std::string() : "did you mean " + quoted(meant) + "?";
}

}  // namespace

std::string format_duration_ms(std::int64_t ms) {
  static constexpr std::array<Unit, 4> kUnits = {Unit{"d", 86'400'000}, Unit{"h", 3600'000},
                                                 Unit{"m", 60'000}, Unit{"s", 1000}};
  for (const Unit& unit : kUnits) {
    if (ms != 0 && ms % unit.factor == 0) {
      return std::to_string(ms / unit.factor) + std::string(unit.suffix);
    }
  }
  return std::to_string(ms) + "ms";
}

std::optional<std::int64_t> parse_duration_ms(std::string_view text) {
  static constexpr std::array<Unit, 6> kUnits = {Unit{"", 1000},      Unit{"ms", 1},
                                                 Unit{"s", 1000},     Unit{"m", 60'000},
                                                 Unit{"h", 3600'000}, Unit{"d", 86'400'000}};
  return parse_quantity(text, kUnits);
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  static constexpr std::array<Unit, 8> kUnits = {
      Unit{"", 1},      Unit{"KiB", 1 << 10}, Unit{"MiB", 1 << 20}, Unit{"GiB", 1 << 30},
      Unit{"KB", 1000}, Unit{"kB", 1000},     Unit{"MB", 1000'000}, Unit{"GB", 1000'000'000}};
  return parse_quantity(text, kUnits);
}

std::string_view nearest(std::string_view word, std::span<const std::string> known) {
  if (word.size() > kSuggestBytesMax) return {};
  std::string_view best;
  std::size_t distance_max = std::max<std::size_t>(1, word.size() / 3);
  for (const std::string& candidate : known) {
    if (candidate.size() > kSuggestBytesMax) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance > distance_max || distance >= candidate.size()) continue;
    best = candidate;
    distance_max = distance == 0 ? 0 : distance - 1;
  }
  return best;
}

MapReader::MapReader(const Node& node, std::vector<Fault>& faults, std::string where)
    : map_(node.kind() == Node::Kind::map ? &node : nullptr),
      faults_(faults),
      where_(std::move(where)) {
  if (map_ == nullptr) fault(node.mark(), "must be a map, found " + describe_kind(node));
}

void MapReader::fault(Mark mark, std::string_view message, std::string remedy) {
  std::string text = where_.empty() ? std::string() : where_ + ": ";
  add_fault(faults_, Fault{mark, text.append(message), std::move(remedy)});
}

void MapReader::expected(std::string_view key, std::string_view what, const Node& found) {
  fault(found.mark(),
        quoted(key) + " must be " + std::string(what) + ", found " + describe_kind(found));
}

const Node* MapReader::take(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  return map_ == nullptr ? nullptr : map_->find(key);
}

const Node* MapReader::require(std::string_view key) {
  const Node* node = take(key);
  if (node == nullptr && map_ != nullptr) {
    fault(map_->mark(), quoted(key) + " is missing", "add " + quoted(key));
  }
  return node;
}

bool MapReader::take_string(std::string_view key, std::string& out) {
  const Node* node = take(key);
  if (node == nullptr) return false;
  if (const auto text = node->as_string()) {
    out = *text;
    return true;
  }
  const bool scalar = node->kind() != Node::Kind::list && node->kind() != Node::Kind::map;
  fault(node->mark(), quoted(key) + " must be a string, found " + describe_kind(*node),
        scalar ? "put it in quotes" : "");
  return false;
}

bool MapReader::require_string(std::string_view key, std::string& out) {
  return require(key) != nullptr && take_string(key, out);
}

bool MapReader::take_bool(std::string_view key, bool& out) {
  const Node* node = take(key);
  if (node == nullptr) return false;
  const auto value = node->as_bool();
  if (value) {
    out = *value;
  } else {
    expected(key, "true or false", *node);
  }
  return value.has_value();
}

bool MapReader::take_double(std::string_view key, double low, double high, double& out) {
  const Node* node = take(key);
  if (node == nullptr) return false;
  const auto value = node->as_double();
  if (value && *value >= low && *value <= high) {
    out = *value;
    return true;
  }
  expected(key, "a number from " + shown(low) + " to " + shown(high), *node);
  return false;
}

std::optional<std::int64_t> MapReader::read_int(std::string_view key, IntRange range) {
  const Node* node = take(key);
  if (node == nullptr) return std::nullopt;
  const auto value = inside(node->as_int(), range);
  if (!value) expected(key, "an integer" + shown_range(range), *node);
  return value;
}

std::optional<std::int64_t> MapReader::read_duration_ms(std::string_view key, IntRange range_ms) {
  const Node* node = take(key);
  if (node == nullptr) return std::nullopt;
  const auto value = inside(parse_duration_ms(quantity_text(*node)), range_ms);
  if (!value) {
    fault(node->mark(),
          quoted(key) + " must be a duration" + shown_range_ms(range_ms) + ", found " +
              describe_kind(*node),
          "write it as 250ms, 30s, 10m, 1h or 2d");
  }
  return value;
}

std::optional<std::int64_t> MapReader::read_bytes(std::string_view key, IntRange range) {
  const Node* node = take(key);
  if (node == nullptr) return std::nullopt;
  const auto value = inside(parse_bytes(quantity_text(*node)), range);
  if (!value) {
    fault(node->mark(),
          quoted(key) + " must be a number of bytes" + shown_range(range) + ", found " +
              describe_kind(*node),
          "write it as 4096, 64KiB or 10MB");
  }
  return value;
}

bool MapReader::take_string_list(std::string_view key, std::vector<std::string>& out) {
  const Node* node = take_list(key);
  if (node == nullptr) return false;
  std::vector<std::string> strings;
  for (const Node& item : node->items()) {
    if (const auto text = item.as_string()) {
      strings.emplace_back(*text);
    } else {
      fault(item.mark(),
            "an item of " + quoted(key) + " must be a string, found " + describe_kind(item));
    }
  }
  if (strings.size() != node->items().size()) return false;
  out = std::move(strings);
  return true;
}

bool MapReader::take_strings(std::string_view key, std::size_t most,
                             std::vector<std::string>& out) {
  const Node* node = take(key);
  if (node == nullptr) return false;
  if (node->items().size() > most) {
    fault(node->mark(), quoted(key) + " may have " + std::to_string(most) + " parts");
    return false;
  }
  if (node->kind() == Node::Kind::list) return take_string_list(key, out);
  std::string text;
  if (!take_string(key, text)) return false;
  out = {std::move(text)};
  return true;
}

std::optional<std::size_t> MapReader::take_choice(std::string_view key,
                                                  std::span<const std::string_view> words) {
  const Node* node = take(key);
  if (node == nullptr) return std::nullopt;
  const auto found = std::find(words.begin(), words.end(), node->text());
  const bool is_string = node->kind() == Node::Kind::string;
  if (is_string && found != words.end()) return static_cast<std::size_t>(found - words.begin());
  const std::vector<std::string> known(words.begin(), words.end());
  fault(node->mark(),
        quoted(key) + " must be one of " + joined(known) + ", found " + describe_kind(*node),
        is_string ? did_you_mean(node->text(), known) : std::string());
  return std::nullopt;
}

const Node* MapReader::take_map(std::string_view key) {
  const Node* node = take(key);
  if (node == nullptr || node->kind() == Node::Kind::map) return node;
  expected(key, "a map", *node);
  return nullptr;
}

const Node* MapReader::take_list(std::string_view key) {
  const Node* node = take(key);
  if (node == nullptr || node->kind() == Node::Kind::list) return node;
  expected(key, "a list", *node);
  return nullptr;
}

void MapReader::finish() {
  if (map_ == nullptr) return;
  for (const Member& member : map_->members()) {
    if (faults_.size() >= kFaultsMax) return;  // a suggestion costs more than the fault it is for
    if (std::find(known_.begin(), known_.end(), member.key) != known_.end()) continue;
    std::string remedy = did_you_mean(member.key, known_);
    if (remedy.empty() && !known_.empty()) remedy = "known keys: " + joined(known_);
    fault(member.key_mark, "unknown key " + quoted(member.key), std::move(remedy));
  }
}

}  // namespace pawl
