// The part of RFC 3986 and RFC 6901 that references between schemas need.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl::schema {

// A reference in its five parts; an absent part is not the same as an empty one.
struct Uri {
  std::optional<std::string> scheme;
  std::optional<std::string> authority;
  std::string path;
  std::optional<std::string> query;
  std::optional<std::string> fragment;
};

Uri split_uri(std::string_view text);
std::string join_uri(const Uri& uri);

// `reference` as seen from `base` (RFC 3986, section 5.2). An empty base leaves it as it is.
Uri resolve_uri(std::string_view base, std::string_view reference);
// The URI without its fragment: the name of a document or of an embedded schema.
std::string without_fragment(Uri uri);

// A malformed escape stays as it is written.
std::string percent_decoded(std::string_view text);

// "/a~1b/0" -> {"a/b", "0"}. `pointer` is empty or begins with a slash.
std::vector<std::string> pointer_tokens(std::string_view pointer);
void append_pointer_token(std::string& pointer, std::string_view token);

}  // namespace pawl::schema
