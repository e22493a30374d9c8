// What a call reaches: hosts of addresses and places of files, by their text alone. Text is not the
// boundary (the sandbox and the dialer are); it is what a rule can be written about. What the text
// does not settle is `maybe`, which counts as a match for whoever forbids and as none for whoever
// allows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pawl {

// In this order: of several conditions the least counts.
enum class Match : std::uint8_t {
  no,
  hidden,  // a command whose words only the shell's expansions settle; see hidden_from()
  maybe,
  yes,
};

// The host of "scheme://host[:port]/...", in lower case and without a final dot. Nothing when there
// is any doubt which one a client would take: user names, backslashes, spaces, control characters,
// anything that is not ASCII.
std::optional<std::string> host_of_url(std::string_view url);
std::optional<std::string> scheme_of_url(std::string_view url);

// "example.org" is itself only, "*.example.org" what is below it, "*" every host.
bool host_is_in(std::string_view host, std::span<const std::string> patterns);

// Lexically: "a//b/./c/../d" is "a/b/d". Nothing when ".." leaves a relative path.
std::optional<std::string> plain_path(std::string_view path);

// Is `path` the place `root` or something below it? Symbolic links are not looked at. A relative
// path under an absolute root (and the reverse), and one that climbs out, is maybe; so is a path
// that begins with '~' or holds a NUL.
Match path_beneath(std::string_view path, std::string_view root);

}  // namespace pawl
