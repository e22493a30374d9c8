#include "pawl/testing/sim/world/policy.h"

namespace pawl::sim {
namespace {

std::uint64_t draw(std::uint64_t version, const std::string& tool, const std::string& input) {
  std::uint64_t hash = 0xcbf29ce484222325ULL + version;
  for (const char c : tool + " " + input) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return Rng::mixed(hash);
}

}  // namespace

CallVerdict SimPolicy::first_word(const std::string& tool, const std::string& input) const {
  const std::uint64_t percent = draw(version_, tool, input) % 100;
  if (percent < 8) return CallVerdict::undecided;
  if (percent < 22) return CallVerdict::ask;
  return percent < 25 ? CallVerdict::deny : CallVerdict::allow;
}

CallVerdict SimPolicy::last_word(const std::string& tool, const std::string& input) const {
  const CallVerdict first = first_word(tool, input);
  if (first != CallVerdict::undecided) return first;
  const std::uint64_t percent = (draw(version_, tool, input) >> 20U) % 100;
  if (percent < 30) return CallVerdict::ask;
  return percent < 40 ? CallVerdict::deny : CallVerdict::allow;
}

CallJudgement SimPolicy::judgement(CallVerdict verdict, const std::string& tool,
                                   const std::string& input) const {
  CallJudgement judgement;
  judgement.verdict = verdict;
  judgement.stage = GateStage::rule;
  judgement.rule = "v" + std::to_string(version_);
  if (verdict == CallVerdict::deny) judgement.reason = "the house says no";
  if (verdict != CallVerdict::ask) return judgement;
  const std::uint64_t chance = draw(version_, tool, input) >> 30U;
  judgement.stage = GateStage::approval_policy;
  judgement.reason = "the house wants to know";
  judgement.binding = binding_of(tool, input);
  if (tool == "look") judgement.kind = InterruptKind::input;
  if (tool == "mail" && chance % 2 == 0) judgement.kind = InterruptKind::custom;
  if (chance % 3 > 0) judgement.expires_ms = 200 + (chance >> 3U) % 20'000;
  return judgement;
}

Digest SimPolicy::binding_under(std::uint64_t version, const std::string& tool,
                                const std::string& input) {
  return sha256(std::to_string(version) + " " + tool + " " + input);
}

}  // namespace pawl::sim
