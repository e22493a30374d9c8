// How a secret stands in a text without its value: [[pawl-secret:NAME]].
//
// The form needs no escaping in JSON, YAML, URLs of logs or HTML, and means nothing to a shell.
// Text from outside that has it is made to say [[not-a-pawl-secret:…, so that nobody but Pawl
// writes handles: neither a model nor a tool can have one resolved.
#pragma once

#include <string>
#include <string_view>

namespace pawl {

inline constexpr std::size_t kHandleNameBytesMax = 64;

// Letters, digits, '_', '-' and '.' of the name; others become '_'. An empty name becomes "secret".
std::string handle_name(std::string_view name);
// `name` is a handle_name().
std::string handle_text(std::string_view name);
// True when something was changed.
bool neutralise_handles(std::string& text);

}  // namespace pawl
