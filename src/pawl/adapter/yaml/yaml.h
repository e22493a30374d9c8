// A strict subset of YAML 1.2 as a Document tree: one document of null, booleans, integers,
// decimals, strings, lists, and maps with distinct scalar keys, typed by the core schema (`yes` and
// `on` are strings; `0o17` and `0x1F` are integers).
//
// Refused, each with a fault that names the place and what to write instead: anchors, aliases, tags
// (the bare `!` is accepted: it makes a plain scalar a string), merge keys, duplicate keys, keys
// that are null, a list or a map, a second document, `.inf` and `.nan`, numbers that no double or
// (in 0x and 0o form) no 64 bits can hold, bytes that are not UTF-8, control characters, NUL in any
// form, a carriage return without a line feed, and everything over the limits.
//
// One leading byte order mark is accepted and counts for nothing, in columns too. A %YAML directive
// of another version is accepted and changes nothing.
#pragma once

#include <cstddef>
#include <string_view>

#include "pawl/base/document.h"

namespace pawl {

// Measured with these limits: the parser's tokens take at most 56 MiB and a full tree 26 MiB;
// yaml-cpp needs 0.1 to 0.5 s for a MiB. Deep nesting, anchors and aliases end the reading early,
// other hostile texts cost what a valid text of their size costs.
struct YamlLimits {
  std::size_t bytes_max = std::size_t{4} << 20;
  // Lists and maps inside each other.
  std::size_t depth_max = 64;
  // Values and keys. Very dense punctuation in one [flow] or {flow} collection, or in one scalar,
  // is refused somewhat earlier (for minified JSON at some 130,000 values): the parser keeps all of
  // it in memory before it says anything, so its tokens are limited to two and a half per node.
  std::size_t nodes_max = 200'000;
  std::size_t scalar_bytes_max = std::size_t{1} << 20;
};

// Every fault is listed, in source order and at most kFaultsMax of them; a syntax error or a limit
// ends the reading, so what follows it is not examined. An empty text is a null node.
DocumentResult parse_yaml(std::string_view text, const YamlLimits& limits = {});

}  // namespace pawl
