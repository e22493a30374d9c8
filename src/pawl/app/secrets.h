// Secrets of the operator's: found where a reference says, when they are needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pawl/app/environment_reader.h"
#include "pawl/port/secrets.h"
#include "pawl/runtime/models/secret_reference.h"
#include "pawl/runtime/secret_filter/known_secrets.h"

namespace pawl {

inline constexpr std::size_t kSecretBytesMax = 16U << 10U;
inline constexpr std::int64_t kSecretCommandMaxMs = 10'000;
inline constexpr std::int64_t kSecretCommandKeptMs = 300'000;

struct SecretSources {
  EnvironmentReader environment;
  std::shared_ptr<KnownSecrets> known;  // gets every value that is revealed
  std::string directory;                // where relative paths start
  // Gets a warning about a value that cannot be kept out of texts, once for each secret.
  std::function<void(const std::string&)> warn = [](const std::string&) {};
  // Asked before a command is started; an error, and there is no secret. Null: every command is.
  std::function<Status(const std::vector<std::string>& arguments)> admit = {};
};

// A value has one line and no control character. not_found: there is none, with the remedy;
// invalid_argument: a file that others may read, or that has more than a line; unavailable: a
// command that failed, or took longer than kSecretCommandMaxMs. What a command printed is kept for
// kSecretCommandKeptMs: a password manager is not asked again for every request.
SecretHandle make_secret(const SecretReference& reference, const SecretSources& sources);
// The first of these variables that is set.
SecretHandle make_secret(const std::vector<std::string>& variables, const SecretSources& sources);

}  // namespace pawl
