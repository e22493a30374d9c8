// Fingerprints: what the loop guards compare.
#include "pawl/kernel/draft.h"

#include <set>

#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

std::uint64_t fingerprint_of_call(const std::string& tool, const std::string& input) {
  return fingerprint_of(CallBlock{tool, Content(input), "", ""});
}

TEST_CASE("calls are the same when tool and input are, whatever the provider calls them") {
  const CallBlock call{"pure", Content("{}"), "toolu_1", ""};
  const CallBlock again{"pure", Content("{}"), "toolu_2", ""};
  CHECK(fingerprint_of(call) == fingerprint_of(again));
}

TEST_CASE("calls differ when tool or input do, and the two do not run into each other") {
  const std::set<std::uint64_t> all = {
      fingerprint_of_call("pure", "{}"), fingerprint_of_call("pure", "{ }"),
      fingerprint_of_call("pur", "e{}"), fingerprint_of_call("pure{}", ""),
      fingerprint_of_call("", "pure{}")};
  CHECK(all.size() == 5);
}

TEST_CASE("inputs that are large are compared without being read") {
  const BlobRef ref{sha256("large"), 5000};
  const CallBlock call{"pure", Content(ref), "", ""};
  const CallBlock other{"pure", Content(BlobRef{sha256("other"), 5000}), "", ""};
  CHECK(fingerprint_of(call) == fingerprint_of(call));
  CHECK(fingerprint_of(call) != fingerprint_of(other));
}

TEST_CASE("steps are compared by text and calls, in order; thinking does not count") {
  const auto of = [](std::vector<Block> blocks) { return fingerprint_of(blocks); };
  const std::set<std::uint64_t> all = {of({}),
                                       of({says("a")}),
                                       of({says("b")}),
                                       of({says("a"), says("b")}),
                                       of({says("b"), says("a")}),
                                       of({says("ab")}),
                                       of({calls("a")}),
                                       of({says("a"), calls("a")}),
                                       of({calls("a"), says("a")})};
  CHECK(all.size() == 9);
  CHECK(of({ThinkingBlock{Content("hm"), ""}, says("a")}) == of({says("a")}));
}

}  // namespace
}  // namespace pawl::testing
