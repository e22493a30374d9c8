#include "pawl/kernel/target.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

TEST_CASE("the provider is what stands before the first slash") {
  CHECK(provider_of("anthropic/claude") == "anthropic");
  CHECK(provider_of("openrouter/meta/llama") == "openrouter");
  CHECK(provider_of("scripted") == "scripted");
}

TEST_CASE("failures at one target are counted, the last message is kept and bounded") {
  std::vector<TargetFailure> failures;
  add_failure(failures, 0, ErrorCategory::timeout, "slow");
  add_failure(failures, 0, ErrorCategory::llm_error, std::string(1'000, 'x'));
  add_failure(failures, 1, ErrorCategory::llm_error, "gone");
  REQUIRE(failures.size() == 2);
  CHECK(failures[0].times == 2);
  CHECK(failures[0].message.size() == kFailureMessageBytesMax);
}

TEST_CASE("every target and its reason is named, a single one is not") {
  const std::vector<ModelTarget> two = {{"a/x", {}, 0, 0}, {"b/y", {}, 0, 0}};
  std::vector<TargetFailure> failures;
  add_failure(failures, 0, ErrorCategory::timeout, "slow");
  CHECK(describe(failures, {two[0]}) == "slow (attempt 1)");
  add_failure(failures, 1, ErrorCategory::llm_error, "gone");
  CHECK(describe(failures, two) == "a/x: slow (attempt 1); b/y: gone (attempt 1)");
}

}  // namespace
}  // namespace pawl
