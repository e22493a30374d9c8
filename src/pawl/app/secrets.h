// Secrets of the operator's: found where a reference says, when they are needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "pawl/app/environment_reader.h"
#include "pawl/port/secrets.h"
#include "pawl/runtime/models/secret_reference.h"

namespace pawl {

inline constexpr std::size_t kSecretBytesMax = 16U << 10U;
inline constexpr std::int64_t kSecretCommandMaxMs = 10'000;
inline constexpr std::int64_t kSecretCommandKeptMs = 300'000;
inline constexpr std::size_t kScrubbedBytesMin = 6;  // shorter values stand in any text
inline constexpr std::size_t kScrubbedMax = 1'000;

// Knows every value that was revealed, and takes them out of texts for logs. Thread-safe.
class SecretScrubber {
 public:
  void learn(const std::string& value);
  // With "[secret]" for each.
  std::string scrubbed(std::string text) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> values_;  // the longest first
};

struct SecretSources {
  EnvironmentReader environment;
  std::shared_ptr<SecretScrubber> scrubber;
  std::string directory;  // where relative paths start
};

// A value has one line and no control character. not_found: there is none, with the remedy;
// invalid_argument: a file that others may read, or that has more than a line; unavailable: a
// command that failed, or took longer than kSecretCommandMaxMs. What a command printed is kept for
// kSecretCommandKeptMs: a password manager is not asked again for every request.
SecretHandle make_secret(const SecretReference& reference, const SecretSources& sources);
// The first of these variables that is set.
SecretHandle make_secret(const std::vector<std::string>& variables, const SecretSources& sources);

}  // namespace pawl
