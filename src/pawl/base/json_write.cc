#include <cstring>

#include "pawl/base/plain_ascii.h"
#include "pawl/base/utf8.h"
#include "pawl/json.h"

namespace pawl {
namespace {

void append_control(std::string& out, char c) {
  static constexpr char kDigits[] = "0123456789abcdef";
  switch (c) {
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out.push_back(kDigits[static_cast<unsigned char>(c) >> 4U]);
      out.push_back(kDigits[static_cast<unsigned char>(c) & 15U]);
  }
}

// The first character is not plain.
std::size_t append_escaped(std::string& out, std::string_view utf8) {
  const char c = utf8[0];
  if (c == '"' || c == '\\') {
    out.push_back('\\');
    out.push_back(c);
    return 1;
  }
  if (static_cast<unsigned char>(c) < 0x20 || c == '\x7F') {
    append_control(out, c);
    return 1;
  }
  const Utf8Step step = first_utf8(utf8);
  if (step.valid) {
    out.append(utf8.substr(0, step.bytes));
  } else {
    append_utf8(out, kReplacementCharacter);
  }
  return step.bytes;
}

void append_array(std::string& out, const JsonArray& items) {
  out.push_back('[');
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i != 0) out.push_back(',');
    append_json(out, items[i]);
  }
  out.push_back(']');
}

void append_object(std::string& out, const JsonObject& object) {
  out.push_back('{');
  const char* separator = "";
  for (const JsonMember& member : object.members()) {
    out += separator;
    append_json_string(out, member.key);
    out.push_back(':');
    append_json(out, member.value);
    separator = ",";
  }
  out.push_back('}');
}

}  // namespace

void append_json_string(std::string& out, std::string_view utf8) {
  out.push_back('"');
  const char* at = utf8.data();
  const char* const end = at + utf8.size();
  while (at != end) {
    const char* after = after_plain_ascii(at, end);
    // DEL is escaped as well: JSON does not ask for it, but terminals act upon it.
    if (const void* del = std::memchr(at, '\x7F', static_cast<std::size_t>(after - at))) {
      after = static_cast<const char*>(del);
    }
    out.append(at, after);
    at = after;
    if (at != end) at += append_escaped(out, std::string_view(at, end));
  }
  out.push_back('"');
}

void append_json(std::string& out, const Json& value) {
  switch (value.kind()) {
    case JsonKind::null:
      out += "null";
      return;
    case JsonKind::boolean:
      out += value.boolean() ? "true" : "false";
      return;
    case JsonKind::number:
      PAWL_ASSERT(!value.number().text.empty());
      out += value.number().text;
      return;
    case JsonKind::string:
      return append_json_string(out, value.string());
    case JsonKind::array:
      return append_array(out, value.array());
    case JsonKind::object:
      return append_object(out, value.object());
  }
}

std::string write_json(const Json& value) {
  std::string out;
  append_json(out, value);
  return out;
}

void JsonWriter::begin_value() {
  PAWL_ASSERT(expects_ == Expects::value);
  if (open_.empty() || open_.back() == Open::object) return;  // key() wrote the comma.
  if (!first_) out_.push_back(',');
}

void JsonWriter::end_value() {
  first_ = false;
  if (open_.empty()) {
    expects_ = Expects::nothing;
  } else {
    expects_ = open_.back() == Open::object ? Expects::key : Expects::value;
  }
}

JsonWriter& JsonWriter::begin(Open kind, char bracket) {
  begin_value();
  out_.push_back(bracket);
  open_.push_back(kind);
  first_ = true;
  expects_ = kind == Open::object ? Expects::key : Expects::value;
  return *this;
}

JsonWriter& JsonWriter::end(Open kind, char bracket) {
  PAWL_ASSERT(!open_.empty() && open_.back() == kind);
  PAWL_ASSERT(kind == Open::array || expects_ == Expects::key);
  open_.pop_back();
  out_.push_back(bracket);
  end_value();
  return *this;
}

JsonWriter& JsonWriter::begin_object() {
  return begin(Open::object, '{');
}
JsonWriter& JsonWriter::end_object() {
  return end(Open::object, '}');
}
JsonWriter& JsonWriter::begin_array() {
  return begin(Open::array, '[');
}
JsonWriter& JsonWriter::end_array() {
  return end(Open::array, ']');
}

JsonWriter& JsonWriter::key(std::string_view key) {
  PAWL_ASSERT(expects_ == Expects::key);
  if (!first_) out_.push_back(',');
  append_json_string(out_, key);
  out_.push_back(':');
  expects_ = Expects::value;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  PAWL_ASSERT(!json.empty());
  begin_value();
  out_.append(json);
  end_value();
  return *this;
}

JsonWriter& JsonWriter::string(std::string_view utf8) {
  begin_value();
  append_json_string(out_, utf8);
  end_value();
  return *this;
}

JsonWriter& JsonWriter::value(const Json& value) {
  begin_value();
  append_json(out_, value);
  end_value();
  return *this;
}

JsonWriter& JsonWriter::number(std::int64_t value) {
  return raw(JsonNumber::of(value).text);
}
JsonWriter& JsonWriter::number(std::uint64_t value) {
  return raw(JsonNumber::of(value).text);
}
JsonWriter& JsonWriter::boolean(bool value) {
  return raw(value ? "true" : "false");
}
JsonWriter& JsonWriter::null() {
  return raw("null");
}

std::string JsonWriter::take() {
  PAWL_ASSERT(expects_ == Expects::nothing);
  std::string text = std::move(out_);
  *this = JsonWriter();
  return text;
}

}  // namespace pawl
