// Identities at the command line: the key of --identity, and what it signs.
#pragma once

#include <string>
#include <vector>

#include "pawl/base/ed25519.h"
#include "pawl/gate/approvals/approval_signature.h"
#include "pawl/gate/approvals/approvals.h"
#include "pawl/surface/cli/context.h"

namespace pawl {

// The file of --identity, or the user's own.
std::string identity_path(const CliContext& context);
Result<SigningKey> identity_of(const CliContext& context);
// Reads the key when something is to be signed.
Sign signer_for(const CliContext& context);

// Signs an approval where the run needs that, or takes the signature of --signature. An error says
// what is missing.
Status sign_decided(const CliContext& context, const Service& service, const RunState& state,
                    CallId call, Decided& decided);

}  // namespace pawl
