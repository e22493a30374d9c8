#include "pawl/testing/fake_provider/reply.h"

#include <doctest/doctest.h>

namespace pawl::fake {
namespace {

using Texts = std::vector<std::string>;

TEST_CASE("one text is cut before its spaces, several are the deltas themselves") {
  CHECK(deltas_of({"Hello there, you"}) == Texts{"Hello", " there,", " you"});
  CHECK(deltas_of({" a"}) == Texts{" a"});
  CHECK(deltas_of({"a b", "c"}) == Texts{"a b", "c"});
  CHECK(deltas_of({""}).empty());
  CHECK(deltas_of({}).empty());
}

TEST_CASE("a long text has a bounded number of deltas, which are all of it") {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "wörd ";
  const Texts deltas = deltas_of({text});
  CHECK(deltas.size() <= 64);
  CHECK(deltas.size() > 8);
  const bool same = joined(deltas) == text;
  CHECK(same);
}

TEST_CASE("a cut never goes through a character") {
  CHECK(cut_text("aé✓😀b", 1) == Texts{"a", "é", "✓", "😀", "b"});
  CHECK(cut_text("ééé", 3) == Texts{"éé", "é"});
}

TEST_CASE("calls make a reply stop for tools, unless it says otherwise") {
  CHECK(effective_stop(FakeReply::say("a")) == FakeStop::end_turn);
  CHECK(effective_stop(FakeReply::call("t")) == FakeStop::tool_use);
  FakeReply cut = FakeReply::call("t");
  cut.stop = FakeStop::max_tokens;
  CHECK(effective_stop(cut) == FakeStop::max_tokens);
  CHECK(FakeReply::fail(500, "x").error->status == 500);
}

}  // namespace
}  // namespace pawl::fake
