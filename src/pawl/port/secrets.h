// Secrets are handles inside Pawl: only the edge that needs a value asks for it, when it needs it,
// and keeps it no longer than the request. A value is never journaled, logged, put into an event,
// an argv or the environment of a child.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pawl/base/result.h"

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

}  // namespace pawl
