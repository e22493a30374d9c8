// The approvals for always of a data directory, in one file of it that is always whole.
#pragma once

#include <string>
#include <vector>

#include "pawl/gate/approvals/approvals_remembered.h"

namespace pawl {

// No file: nothing is remembered.
Result<std::vector<RememberedApproval>> load_remembered(const std::string& data);
// Several processes may do so at once. limit_exceeded: kRememberedMax are there.
Status remember_approval(const std::string& data, const RememberedApproval& approval);
// By the id, or the beginning of it. not_found; conflict: several begin so.
Status forget_approval(const std::string& data, const std::string& id);

}  // namespace pawl
