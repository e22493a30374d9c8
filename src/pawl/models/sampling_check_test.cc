#include "pawl/models/sampling_check.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

using Support = ExecutorModelDescriptor::Support;

ResolvedTarget target(const std::string& provider) {
  ResolvedTarget made;
  made.literal = provider + "/m";
  made.provider = provider;
  made.facts.temperature = Support::no;
  made.facts.thinking = Support::no;
  made.facts.max_output_tokens = 100;
  return made;
}

TEST_CASE("what a model of the chain would not be told of is refused by its name") {
  ResolvedTarget able = target("able");
  able.facts.temperature = Support::yes;
  able.facts.thinking = Support::yes;
  SamplingOptions warm;
  warm.temperature_milli = 300;
  SamplingOptions hard;
  hard.effort = ReasoningEffort::high;
  SamplingOptions longer;
  longer.max_output_tokens = 101;
  CHECK(check_sampling({}, {target("plain")}));
  for (const SamplingOptions& sampling : {warm, hard}) {
    CHECK(check_sampling(sampling, {able}));
    const Status refused = check_sampling(sampling, {able, target("plain")});
    REQUIRE(!refused);
    CHECK(refused.error().message.find("plain/m takes no") != std::string::npos);
    CHECK(check_sampling(sampling, {target("scripted"), target("external")}));
  }
  CHECK(!check_sampling(longer, {able}));
  longer.max_output_tokens = 100;
  CHECK(check_sampling(longer, {able}));
}

}  // namespace
}  // namespace pawl
