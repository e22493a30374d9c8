#include "pawl/base/document.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "pawl/json.h"

namespace pawl {

namespace {

constexpr std::size_t kQuotedBytesMax = 60;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The length of the run of digits at `at`.
std::size_t digits_at(std::string_view text, std::size_t at) {
  const auto end =
      std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_digit);
  return static_cast<std::size_t>(end - text.begin()) - at;
}

// RFC 8259, section 6.
bool is_json_number(std::string_view text) {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const std::size_t whole = digits_at(text, at);
  if (whole == 0 || (whole > 1 && text[at] == '0')) return false;
  at += whole;
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction = digits_at(text, at + 1);
    if (fraction == 0) return false;
    at += 1 + fraction;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    const std::size_t exponent = digits_at(text, at);
    if (exponent == 0) return false;
    at += exponent;
  }
  return at == text.size();
}

std::string canonical(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  // Keeps a decimal a decimal for readers that tell the two apart.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// An integer that std::int64_t cannot hold, without the "+" and the zeros that JSON refuses.
std::string trimmed_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  return (negative ? "-" : "") + std::string(text);
}

std::string json_number(const Node& node) {
  if (is_json_number(node.text())) return std::string(node.text());
  if (node.kind() == Node::Kind::decimal) return canonical(*node.as_double());
  const auto value = node.as_int();
  return value ? std::to_string(*value) : trimmed_integer(node.text());
}

void append_node(std::string& out, const Node& node);

void append_json_list(std::string& out, const std::vector<Node>& items) {
  out += '[';
  for (const Node& item : items) {
    if (&item != &items.front()) out += ',';
    append_node(out, item);
  }
  out += ']';
}

void append_json_map(std::string& out, const std::vector<Member>& members) {
  out += '{';
  for (const Member& member : members) {
    if (&member != &members.front()) out += ',';
    append_json_string(out, member.key);
    out += ':';
    append_node(out, member.value);
  }
  out += '}';
}

void append_node(std::string& out, const Node& node) {
  switch (node.kind()) {
    case Node::Kind::null:
      out += "null";
      return;
    case Node::Kind::boolean:
      out += *node.as_bool() ? "true" : "false";
      return;
    case Node::Kind::integer:
    case Node::Kind::decimal:
      out += json_number(node);
      return;
    case Node::Kind::string:
      append_json_string(out, node.text());
      return;
    case Node::Kind::list:
      append_json_list(out, node.items());
      return;
    case Node::Kind::map:
      append_json_map(out, node.members());
      return;
  }
}

void append_escaped(std::string& out, unsigned value) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  out += "\\x";
  out += kHex[(value >> 4) & 0xF];
  out += kHex[value & 0xF];
}

// Terminals obey the C1 controls (U+0080 to U+009F) as they obey the ASCII ones.
bool is_c1_control(std::string_view text, std::size_t at) {
  return text[at] == '\xC2' && at + 1 < text.size() &&
         static_cast<unsigned char>(text[at + 1]) < 0xA0;
}

}  // namespace

std::string to_string(const Fault& fault, std::string_view file) {
  std::string out(file);
  if (fault.mark.line != 0) {
    out += ':' + std::to_string(fault.mark.line) + ':' + std::to_string(fault.mark.column);
  }
  out += ": " + fault.message;
  if (!fault.remedy.empty()) out += " (" + fault.remedy + ")";
  return out;
}

std::string to_string(std::span<const Fault> faults, std::string_view file) {
  std::string out;
  for (const Fault& fault : faults) out += to_string(fault, file) + "\n";
  return out;
}

void add_fault(std::vector<Fault>& faults, Fault fault) {
  if (faults.size() < kFaultsMax) faults.push_back(std::move(fault));
}

Node::Node(Kind kind, Mark mark, std::string text, Value value)
    : kind_(kind), mark_(mark), text_(std::move(text)), value_(std::move(value)) {}

Node Node::make_null(Mark mark) {
  return {Kind::null, mark, {}, {}};
}

Node Node::make_bool(bool value, std::string text, Mark mark) {
  return {Kind::boolean, mark, std::move(text), value};
}

Node Node::make_integer(std::optional<std::int64_t> value, std::string text, Mark mark) {
  return {Kind::integer, mark, std::move(text), value ? Value(*value) : Value()};
}

Node Node::make_decimal(double value, std::string text, Mark mark) {
  return {Kind::decimal, mark, std::move(text), value};
}

Node Node::make_string(std::string text, Mark mark) {
  return {Kind::string, mark, std::move(text), {}};
}

Node Node::make_list(std::vector<Node> items, Mark mark) {
  return {Kind::list, mark, {}, std::move(items)};
}

Node Node::make_map(std::vector<Member> members, Mark mark) {
  return {Kind::map, mark, {}, std::move(members)};
}

void Node::set_file(std::uint32_t file) {
  mark_.file = file;
  if (auto* items = std::get_if<std::vector<Node>>(&value_)) {
    for (Node& item : *items) item.set_file(file);
  }
  if (auto* members = std::get_if<std::vector<Member>>(&value_)) {
    for (Member& member : *members) {
      member.key_mark.file = file;
      member.value.set_file(file);
    }
  }
}

std::optional<bool> Node::as_bool() const {
  const bool* value = std::get_if<bool>(&value_);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<std::int64_t> Node::as_int() const {
  const std::int64_t* value = std::get_if<std::int64_t>(&value_);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<double> Node::as_double() const {
  if (const double* value = std::get_if<double>(&value_)) return *value;
  const auto value = as_int();
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

std::optional<std::string_view> Node::as_string() const {
  return kind_ == Kind::string ? std::optional<std::string_view>(text_) : std::nullopt;
}

const std::vector<Node>& Node::items() const {
  static const std::vector<Node> kNone;
  const auto* items = std::get_if<std::vector<Node>>(&value_);
  return items ? *items : kNone;
}

const std::vector<Member>& Node::members() const {
  static const std::vector<Member> kNone;
  const auto* members = std::get_if<std::vector<Member>>(&value_);
  return members ? *members : kNone;
}

const Node* Node::find(std::string_view key) const {
  for (const Member& member : members()) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool continues = (byte & 0xC0) == 0x80;  // Never cut inside a character.
    if (i >= kQuotedBytesMax && !continues) return out + "...\"";
    if (is_c1_control(text, i)) {
      append_escaped(out, static_cast<unsigned char>(text[++i]));
    } else if (byte < 0x20 || byte == 0x7F) {
      append_escaped(out, byte);
    } else {
      if (byte == '"' || byte == '\\') out += '\\';
      out += text[i];
    }
  }
  return out + '"';
}

std::string describe_kind(const Node& node) {
  // Scalars other than strings have short text, except absurd numbers.
  const auto shown = [&node] { return std::string(node.text().substr(0, kQuotedBytesMax)); };
  switch (node.kind()) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::boolean:
      return "the boolean " + shown();
    case Node::Kind::integer:
      return "the integer " + shown();
    case Node::Kind::decimal:
      return "the decimal " + shown();
    case Node::Kind::string:
      return "the string " + quoted(node.text());
    case Node::Kind::list:
      return "a list";
    case Node::Kind::map:
      return "a map";
  }
  return "nothing";
}

std::string to_json(const Node& node) {
  std::string out;
  append_node(out, node);
  return out;
}

}  // namespace pawl
