// How a secret stands in a text without its value: [[pawl-secret:NAME]].
//
// The form needs no escaping in JSON, YAML, URLs of logs or HTML, and means nothing to a shell.
// Text from outside that has it is made to say [[not-a-pawl-secret:…, so that nobody but Pawl
// writes handles: neither a model nor a tool can have one resolved.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "pawl/base/result.h"
#include "pawl/port/secrets.h"

namespace pawl {

inline constexpr std::size_t kHandleNameBytesMax = 64;
inline constexpr std::size_t kResolvedTextBytesMax = 1U << 20U;

// Letters, digits, '_', '-' and '.' of the name; others become '_'. An empty name becomes "secret".
std::string handle_name(std::string_view name);
// `name` is a handle_name().
std::string handle_text(std::string_view name);
// True when something was changed.
bool neutralise_handles(std::string& text);

using AllowedSecrets = std::map<std::string, SecretHandle, std::less<>>;  // by handle_name()
// `text`, which the operator wrote, with values for its handles. For the edge that needs them alone
// (a header of a request, the environment of a server that the operator named): each handle is
// revealed anew, so that a changed key is used at once. invalid_argument: a handle that is not
// allowed here, or is not written as one; limit_exceeded.
Result<std::string> resolve_handles(std::string_view text, const AllowedSecrets& allowed);

}  // namespace pawl
