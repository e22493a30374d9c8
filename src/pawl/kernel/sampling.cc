#include "pawl/kernel/sampling.h"

namespace pawl {

SamplingOptions merged(const SamplingOptions& base, const SamplingOptions& over) {
  SamplingOptions both = base;
  if (over.max_output_tokens) both.max_output_tokens = over.max_output_tokens;
  if (over.temperature_milli) both.temperature_milli = over.temperature_milli;
  if (over.effort != ReasoningEffort::unset) both.effort = over.effort;
  if (over.stream != Streaming::automatic) both.stream = over.stream;
  return both;
}

}  // namespace pawl
