// The verdict about a call before it may run, with the stage and rule that gave it. The gate
// judges; the kernel decides what follows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/base/hash.h"
#include "pawl/kernel/fields.h"
#include "pawl/kernel/words.h"

namespace pawl {

enum class CallVerdict : std::uint8_t {
  undecided,  // somebody has still to be asked, a script or a hook: see JudgeCall
  allow,
  ask,  // a person
  deny,
};

// Which part of the pipeline had the last word. In this order they are passed.
enum class GateStage : std::uint8_t {
  none,
  allow_list,
  trust,  // trust level and permission bits
  rule,   // guardrail rules, and the scripts they name
  shell,  // what a command's text says
  hook,   // pre-tool-use
  approval_policy,
  person,
  expiry,  // nobody answered in time
};

// What a run that waits for a person wants of them.
enum class InterruptKind : std::uint8_t {
  approval,  // may this be done?
  input,     // an answer, which becomes the call's result
  custom,    // of the host's own; any decision will do
};

enum class InterruptDecision : std::uint8_t { approve, reject, input };

// Whose approval counts.
enum class Approvers : std::uint8_t {
  anyone,
  others,  // a person whose signature was verified, and who did not start the run
  listed,  // a person whose signature was verified
};

// A person who may approve, by name, with the public keys that are theirs ("ed25519:…").
struct Signer {
  std::string name;
  std::vector<std::string> keys;

  PAWL_FACT(Signer, "signer", PAWL_FIELD(name) PAWL_FIELD(keys));
};

// A question that nobody has answered for this long is answered with no.
inline constexpr std::uint64_t kApprovalLifeMaxMs = 400ULL * 24 * 3600 * 1000;

// So many different calls that people denied are remembered, the latest ones. What people may be
// asked at all is in kernel/rules.h.
inline constexpr std::size_t kDenialsKeptMax = 64;

struct CallJudgement {
  CallVerdict verdict = CallVerdict::undecided;
  GateStage stage = GateStage::none;
  std::string rule;    // its id
  std::string reason;  // deny: what the model reads; ask: what the person reads
  InterruptKind kind = InterruptKind::approval;
  std::optional<Digest> binding;  // what exactly an approval would be for
  std::uint64_t expires_ms = 0;   // after it was asked; 0: never

  static CallJudgement allowed() {
    return {CallVerdict::allow, GateStage::none, {}, {}, {}, {}, 0};
  }

  PAWL_FACT(CallJudgement, "judgement",
            PAWL_FIELD(verdict) PAWL_FIELD(stage) PAWL_FIELD(rule) PAWL_FIELD(reason)
                PAWL_FIELD(kind) PAWL_FIELD(binding) PAWL_FIELD(expires_ms));
};

template <>
inline constexpr std::uint8_t kCount<CallVerdict> = 4;
template <>
inline constexpr std::uint8_t kCount<GateStage> = 9;
template <>
inline constexpr std::uint8_t kCount<InterruptKind> = 3;
template <>
inline constexpr std::uint8_t kCount<InterruptDecision> = 3;
template <>
inline constexpr std::uint8_t kCount<Approvers> = 3;

std::string_view name(CallVerdict value);
std::string_view name(GateStage value);
std::string_view name(InterruptKind value);
std::string_view name(InterruptDecision value);
std::string_view name(Approvers value);

}  // namespace pawl
