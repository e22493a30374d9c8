// Secrets of the operator's: found where a reference says, when they are needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pawl/port/environment_reader.h"
#include "pawl/port/secrets.h"

namespace pawl {

inline constexpr std::size_t kSecretBytesMax = 16U << 10U;
inline constexpr std::int64_t kSecretCommandMaxMs = 10'000;
inline constexpr std::int64_t kSecretCommandKeptMs = 300'000;

struct SecretSources {
  EnvironmentReader environment;
  // Gets every value that is revealed, with the name that it has in texts. Says what to do about a
  // value that cannot be kept out of texts; empty: all is well. Null: nobody learns.
  std::function<std::string_view(const std::string& name, const std::string& value)> learn = {};
  // Gets a warning about a value that cannot be kept out of texts, once for each secret.
  std::function<void(const std::string&)> warn = [](const std::string&) {};
  // Asked before a command is started; an error, and there is no secret. Null: every command is.
  std::function<Status(const std::vector<std::string>& arguments)> admit = {};
};

// A value has one line and no control character. not_found: there is none, with the remedy;
// invalid_argument: a file that others may read, or that has more than a line; unavailable: a
// command that failed, or took longer than kSecretCommandMaxMs. What a command printed is kept for
// kSecretCommandKeptMs: a password manager is not asked again for every request.
class HostSecrets final : public SecretFinder {
 public:
  explicit HostSecrets(SecretSources sources) : sources_(std::move(sources)) {}
  SecretHandle find(const SecretReference& reference, const std::string& directory) const override;
  SecretHandle find_variable(const std::vector<std::string>& variables) const override;

 private:
  SecretSources sources_;
};

}  // namespace pawl
