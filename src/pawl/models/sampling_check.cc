#include "pawl/models/sampling_check.h"

#include <string>

namespace pawl {
namespace {

using Support = ExecutorModelDescriptor::Support;

Error refused(const ResolvedTarget& target, const std::string& why) {
  return Error{ErrorCode::invalid_argument, "the model " + target.literal + " " + why};
}

Status check_one(const SamplingOptions& sampling, const ResolvedTarget& target) {
  const ExecutorModelDescriptor& facts = target.facts;
  if (sampling.temperature_milli && facts.temperature == Support::no) {
    return refused(target, "takes no temperature");
  }
  if (sampling.effort != ReasoningEffort::unset && facts.thinking == Support::no) {
    return refused(target,
                   "takes no effort, as far as its facts say; if it does, say `thinking: true` of "
                   "it under providers");
  }
  const bool stated = facts.max_output_tokens > 0 && sampling.max_output_tokens;
  if (stated && *sampling.max_output_tokens > facts.max_output_tokens) {
    return refused(target, "writes at most " + std::to_string(facts.max_output_tokens) +
                               " tokens, and max_tokens is " +
                               std::to_string(*sampling.max_output_tokens));
  }
  return ok();
}

}  // namespace

Status check_sampling(const SamplingOptions& sampling, const std::vector<ResolvedTarget>& targets) {
  for (const ResolvedTarget& target : targets) {
    const bool reserved = target.provider == kScriptedModel || target.provider == kExternalModel;
    if (!reserved) PAWL_CHECK(check_one(sampling, target));
  }
  return ok();
}

}  // namespace pawl
