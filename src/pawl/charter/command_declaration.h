// A tool that a charter defines as a command of the operator's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pawl/content.h"
#include "pawl/gate/charter_permissions.h"
#include "pawl/kernel/node_spec.h"

namespace pawl {

struct CommandDeclaration {
  ToolSpec spec;
  std::vector<std::string> command;
  std::vector<std::string> status;  // reconcilable only
  TrustLevel trust = TrustLevel::medium;
  std::optional<PermissionBits> needs = {};  // absent: it is taken to need everything
  Risk risk = Risk::low;
  enum class Where : std::uint8_t { sandbox, host } where = Where::sandbox;
  ToolScope scope = ToolScope::charter;
  std::string owner = {};  // the node or pack that defines it; empty: the charter
};

}  // namespace pawl
