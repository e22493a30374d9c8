// What a request asks for beside its conversation, at random.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "pawl/adapter/provider/common/conversation_random_test.h"

namespace pawl::provider {

// How many conversations a property is tried on: PAWL_TRANSCRIPTS, or few enough for every build.
inline std::uint64_t transcript_count() {
  const char* const text = std::getenv("PAWL_TRANSCRIPTS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 20'000;
}

inline void randomize(Rng& rng, PhaseExecutionRequest& request) {
  static const std::vector<std::string> kNames = {"mcp__github__search", std::string(100, 't'),
                                                  "sp\xC3\xA4h"};
  static const std::vector<std::string> kSchemas = {
      "{}", R"({"type":"object","properties":{"a":{"type":"integer"}}})",
      R"({"anyOf":[{"required":["a"]}],"properties":{"a":{}}})"};
  if (rng.one_in(3)) {
    ToolSpec& tool = request.tools.emplace_back();
    tool.name = rng.pick(kNames);
    tool.input_schema = rng.pick(kSchemas);
  }
  if (rng.one_in(10)) request.system_prompt = " \n";
  SamplingOptions& sampling = request.sampling;
  sampling.effort = static_cast<ReasoningEffort>(rng.below(kCount<ReasoningEffort>));
  if (rng.one_in(3)) sampling.max_output_tokens = 1 + rng.below(100'000);
  if (rng.one_in(3)) sampling.temperature_milli = static_cast<std::uint32_t>(rng.below(1'001));
  if (rng.one_in(3)) sampling.stream = Streaming::off;
  if (rng.one_in(4)) {
    request.output_schema = R"({"type":"object","properties":{"a":{"type":"integer",)"
                            R"("minimum":1}},"required":["a"]})";
  }
}

inline ExecutorModelDescriptor random_model(Rng& rng, const std::vector<std::string>& ids) {
  using Support = ExecutorModelDescriptor::Support;
  const auto either = [&] { return rng.one_in(2) ? Support::yes : Support::no; };
  ExecutorModelDescriptor model;
  model.id = rng.pick(ids);
  model.max_output_tokens = rng.one_in(2) ? 0 : 64'000;
  model.thinking = either();
  model.images = Support::yes;
  model.temperature = either();
  model.structured_output = either();
  return model;
}

}  // namespace pawl::provider
