// Replaces what looks like a secret in texts that leave the machine: keys of common forms, bearer
// tokens, private keys, passwords in addresses, and values that are known to be secret.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl {

inline constexpr std::size_t kKnownSecretBytesMin = 8;  // shorter values stand in any text
inline constexpr std::size_t kKnownSecretsMax = 1'000;
inline constexpr std::size_t kSecretsNumberedMax = 100'000;  // later ones share a number

// What looks like a secret by its form alone. Thread-safe.
class SecretPatterns {
 public:
  SecretPatterns();
  ~SecretPatterns();
  SecretPatterns(SecretPatterns&&) noexcept;
  SecretPatterns& operator=(SecretPatterns&&) noexcept;

  // True when something was replaced, by what `mark` gives for it.
  using Mark = std::function<std::string(std::string_view secret)>;
  bool replace(std::string& text, const Mark& mark) const;

 private:
  struct Forms;
  std::unique_ptr<Forms> forms_;
};

class Redactor {
 public:
  // `known` values are found as they are, and as JSON, base64 and percent encoding write them.
  explicit Redactor(const std::vector<std::string>& known);

  // True when something was replaced, by [redacted:N]; equal secrets have equal numbers.
  bool redact(std::string& text);
  // How many replacements were made so far.
  std::uint64_t count() const { return count_; }

 private:
  bool replace_known(std::string& text, const std::string& value);
  std::string mark(const std::string& secret);

  SecretPatterns patterns_;
  std::vector<std::string> known_;  // the longest first
  std::map<std::string, std::uint64_t> numbers_;
  std::uint64_t count_ = 0;
};

// Whether a variable of the environment with this name holds a secret, by its name.
bool names_a_secret(const std::string& variable);

}  // namespace pawl
