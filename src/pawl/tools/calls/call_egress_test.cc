#include "pawl/tools/calls/call_egress.h"

#include <doctest/doctest.h>

#include <optional>

#include "tests/support/test_loop.h"

namespace pawl {
namespace {

using Seen = EgressEvent::Verdict;

EgressEvent event_of(Seen verdict, std::string target, std::string detail,
                     std::string client = {}) {
  return {verdict, std::move(target), std::move(detail), std::move(client)};
}

// Tells its sink of the host it is asked for, and ends when it is told to.
class AskingTool final : public Tool {
 public:
  explicit AskingTool(EgressSink sink) : sink_(std::move(sink)) {}
  const ToolSpec& spec() const override { return spec_; }
  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    if (sink_) sink_(event_of(Seen::allowed, invocation.input, ""));
    waiting.push_back(std::move(done));
    return std::make_unique<Nothing>();
  }
  std::unique_ptr<Operation> status(const ToolInvocation&,
                                    std::function<void(ToolStatus)>) override {
    return nullptr;
  }
  static inline std::vector<std::function<void(ToolOutcome)>> waiting;

 private:
  struct Nothing final : Operation {
    void abort() override {}
  };
  EgressSink sink_;
  ToolSpec spec_;
};

ToolInvocation invocation_of(const char* run, const char* input) {
  ToolInvocation made;
  made.run = RunId{run};
  made.input = input;
  return made;
}

TEST_CASE("notes are a list, once") {
  EgressNotes notes;
  CHECK(notes.take() == EgressReport{});
  notes.add(event_of(Seen::allowed, "a.test:443", "93.184.216.34"));
  notes.add(event_of(Seen::refused, "b.test:443", "not listed"));
  CHECK(notes.take() == EgressReport{{{"a.test:443", "allowed", "93.184.216.34"},
                                      {"b.test:443", "refused", "not listed"}},
                                     0});
  CHECK(notes.take() == EgressReport{});
}

TEST_CASE("notes are bounded in number and length") {
  EgressNotes notes;
  for (std::size_t i = 0; i < kEgressNotesMax + 5; ++i) {
    notes.add(event_of(Seen::unresolved, "x:1", std::string(10'000, 'y')));
  }
  const EgressReport taken = notes.take();
  CHECK(taken.left_out == 5);
  REQUIRE(taken.notes.size() == kEgressNotesMax);
  CHECK(taken.notes.front().detail.size() == kEgressDetailBytesMax);
}

TEST_CASE("calls that overlap have each their own") {
  AskingTool::waiting.clear();
  const auto tool = with_call_egress(
      [](EgressSink sink) { return std::make_shared<AskingTool>(std::move(sink)); });
  std::vector<EgressReport> seen(2);
  const auto one = tool->invoke(invocation_of("r", "one.test:80"),
                                [&](const ToolOutcome& outcome) { seen[0] = outcome.egress; });
  const auto two = tool->invoke(invocation_of("r", "two.test:80"),
                                [&](const ToolOutcome& outcome) { seen[1] = outcome.egress; });
  AskingTool::waiting[1]({});  // the later one ends first
  AskingTool::waiting[0]({});
  CHECK(seen[0] == EgressReport{{{"one.test:80", "allowed", ""}}, 0});
  CHECK(seen[1] == EgressReport{{{"two.test:80", "allowed", ""}}, 0});
}

TEST_CASE("runs of one agent do not have one another's, and what is forgotten is gone") {
  AskingTool::waiting.clear();
  const auto notes = std::make_shared<RunEgressNotes>();
  const auto tool = with_session_egress(std::make_shared<AskingTool>(nullptr), notes);
  EgressReport seen;
  const auto call = tool->invoke(invocation_of("mine", ""),
                                 [&](const ToolOutcome& outcome) { seen = outcome.egress; });
  notes->add(event_of(Seen::allowed, "theirs.test:80", "", "other"));
  notes->add(event_of(Seen::allowed, "mine.test:80", "", "mine"));
  AskingTool::waiting[0]({});
  CHECK(seen == EgressReport{{{"mine.test:80", "allowed", ""}}, 0});
  CHECK(notes->take(RunId{"mine"}) == EgressReport{});
  notes->forget(RunId{"other"});
  CHECK(notes->take(RunId{"other"}) == EgressReport{});
}

}  // namespace
}  // namespace pawl
