// The part of `pawl gc` that lets outputs of tools go while their runs stay.
#pragma once

#include <cstdint>
#include <set>

#include "pawl/service/housekeeping.h"
#include "pawl/surface/cli/context.h"

namespace pawl {

enum class Dry : std::uint8_t { no, yes };

struct ExpiryTally {
  std::uint64_t outputs = 0;  // in the store, and files beside it
  std::uint64_t runs = 0;     // that had them
  int exit_code = kExitDone;
};

// Says of every run what goes. Those in `removed` are not looked at. A run that cannot be read is
// complained about and does not keep the others.
ExpiryTally expire_outputs(const CliContext& context, Workspace& workspace,
                           const ArtifactRules& rules, const std::set<RunId>& removed, Dry dry);

}  // namespace pawl
