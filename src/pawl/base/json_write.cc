#include "pawl/base/json.h"
#include "pawl/base/utf8.h"

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

// The length of the ASCII prefix that needs no escape: most of most strings.
std::size_t plain_run(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && text[length] >= ' ' && text[length] < '\x7F' &&
         text[length] != '"' && text[length] != '\\') {
    ++length;
  }
  return length;
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
  while (!utf8.empty()) {
    const std::size_t plain = plain_run(utf8);
    out.append(utf8.substr(0, plain));
    utf8.remove_prefix(plain);
    if (utf8.empty()) break;
    const char c = utf8[0];
    const Utf8Step step = first_utf8(utf8);
    if (!step.valid) {
      append_utf8(out, kReplacementCharacter);
    } else if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (step.code_point < 0x20 || step.code_point == 0x7F) {
      append_control(out, c);
    } else {
      out.append(utf8.substr(0, step.bytes));
    }
    utf8.remove_prefix(step.bytes);
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
