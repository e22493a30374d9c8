#include "pawl/testing/sim/world/signing.h"

#include "pawl/base/base64.h"
#include "pawl/base/ed25519.h"
#include "pawl/ids.h"
#include "pawl/result.h"

namespace pawl::sim {
namespace {

SigningKey key_of(const std::string& name) {
  const Digest seed = sha256("sim " + name);
  auto key = SigningKey::of_seed(seed.view());
  PAWL_ASSERT(key.has_value());
  return *std::move(key);
}

}  // namespace

const std::vector<Signer>& sim_signers() {
  static const std::vector<Signer> signers = [] {
    std::vector<Signer> made;
    for (const char* name : {"ann", "bob", "cho", "operator"}) {
      made.push_back({name, {public_key_text(key_of(name).public_key())}});
    }
    return made;
  }();
  return signers;
}

std::string sim_signature(const std::string& name, const std::string& message) {
  return to_base64(key_of(name).sign(message));
}

void sign_decision(const RunState& state, CallDecided& decided) {
  const auto question = question_about(state, decided.call);
  if (state.approvers == Approvers::anyone || !question) return;
  decided.signature =
      sim_signature(decided.by, approval_message(*question, decided.decision, decided.edited));
}

}  // namespace pawl::sim
