// Secrets are handles inside Pawl: only the edge that needs a value asks for it, when it needs it,
// and keeps it no longer than the request. A value is never journaled, logged, put into an event,
// an argv or the environment of a child.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pawl/result.h"

namespace pawl {

class Secret {
 public:
  virtual ~Secret() = default;
  // Where it comes from, for messages: "environment variable ANTHROPIC_API_KEY". Never the value.
  virtual std::string origin() const = 0;
  // not_found: there is none, with the remedy.
  virtual Result<std::string> reveal() const = 0;
};
using SecretHandle = std::shared_ptr<const Secret>;

// Where a secret is to be found.
struct SecretReference {
  enum class Kind : std::uint8_t { environment, file, command } kind = Kind::environment;
  std::string name;                    // of the variable, or the path
  std::vector<std::string> arguments;  // of a command, the program first

  friend bool operator==(const SecretReference&, const SecretReference&) = default;
};

// Finds the secrets of the operator's when they are needed.
class SecretFinder {
 public:
  virtual ~SecretFinder() = default;
  // Relative paths start at `directory`.
  virtual SecretHandle find(const SecretReference& reference,
                            const std::string& directory) const = 0;
  // The first of these variables that is set.
  virtual SecretHandle find_variable(const std::vector<std::string>& variables) const = 0;
};

}  // namespace pawl
