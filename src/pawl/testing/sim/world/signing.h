// The keys of the simulated people: made from their names, so that a history repeats.
#pragma once

#include <string>
#include <vector>

#include "pawl/gate/approvals/approval_signature.h"
#include "pawl/gate/approvals/approvals.h"

namespace pawl::sim {

// Everybody whose signature counts.
const std::vector<Signer>& sim_signers();
std::string sim_signature(const std::string& name, const std::string& message);
// As an approver signs it, where the run needs that.
void sign_decision(const RunState& state, CallDecided& decided);

}  // namespace pawl::sim
