// What the strict validators of both OpenAI dialects share. A fault is a sentence; none is "".
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "pawl/json.h"

namespace pawl::provider::openai_test {

using Fault = std::string;
using Words = std::set<std::string, std::less<>>;

// Ours are held to more than the provider asks: no blank texts, the user's word last, and in the
// chat dialect roles that alternate.
enum class Author { pawl, recorded };

inline std::string string_in(const Json& object, std::string_view key) {
  const std::string* text = object.find_string(key);
  return text != nullptr ? *text : std::string();
}

inline bool is_wire_word(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

inline bool is_blank_text(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == text.npos;
}

inline Fault check_keys(const Json& object, const Words& allowed) {
  if (!object.is_object()) return "not an object";
  for (const JsonMember& member : object.object().members()) {
    if (!allowed.contains(member.key)) return "unknown member " + member.key;
  }
  return "";
}

inline Fault check_arguments(const Json& owner) {
  const auto arguments = parse_json(string_in(owner, "arguments"));
  return arguments && arguments->is_object() ? "" : "arguments are no object";
}

inline Fault check_data_url(const std::string& url) {
  if (!url.starts_with("data:")) return url.starts_with("https://") ? "" : "no address of data";
  const std::size_t comma = url.find(";base64,");
  return comma != std::string::npos && comma + 8 < url.size() ? "" : "no data in the address";
}

inline Fault check_function(const Json& function, Words& names) {
  if (!is_wire_word(string_in(function, "name"))) return "a tool without a proper name";
  if (!names.insert(string_in(function, "name")).second) return "two tools of one name";
  const Json* const parameters = function.find("parameters");
  if (parameters == nullptr || string_in(*parameters, "type") != "object") {
    return "parameters are no object";
  }
  const Json* const properties = parameters->find("properties");
  return properties != nullptr && properties->is_object() ? "" : "parameters without properties";
}

inline Fault check_schema_format(const Json& format) {
  if (!is_wire_word(string_in(format, "name"))) return "a format without a name";
  const Json* const schema = format.find("schema");
  if (schema == nullptr || string_in(*schema, "type") != "object") return "a format of no object";
  return "";
}

inline Fault check_sampling(const Json& body) {
  if (const Json* t = body.find("temperature")) {
    if (!t->is_number() || t->number().as_double() < 0 || t->number().as_double() > 2) {
      return "no temperature";
    }
  }
  for (const char* key : {"max_output_tokens", "max_tokens", "max_completion_tokens"}) {
    const Json* most = body.find(key);
    if (most != nullptr && most->as_uint64().value_or(0) == 0) return "no number of tokens";
  }
  const Json* const stream = body.find("stream");
  return stream == nullptr || stream->is_boolean() ? "" : "stream is no truth value";
}

}  // namespace pawl::provider::openai_test
