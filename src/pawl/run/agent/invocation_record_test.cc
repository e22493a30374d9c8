#include "pawl/run/agent/invocation_record.h"

#include <doctest/doctest.h>

#include "pawl/adapter/asio/asio_loop.h"
#include "pawl/testing/journal_memory/journal_memory.h"

namespace pawl {
namespace {

struct NoSession final : SessionService {
  Result<std::optional<std::string>> get(const std::string&) override {
    return std::optional<std::string>();
  }
  Status set(const std::string&, std::string) override { return ok(); }
};

struct Host {
  AsioLoop loop;
  MemoryJournal journal{loop};
};

}  // namespace

TEST_CASE("what was recorded of a context makes the same one") {
  Host desk;
  InvocationServices lent;
  lent.session = std::make_shared<NoSession>();
  lent.name = "office";
  const auto context = InvocationContextBuilder()
                           .tenant("acme")
                           .identity("ann")
                           .started_by("bot")
                           .session_id("s")
                           .trace_parent("t")
                           .services(lent)
                           .build();
  RunStarted event;
  record_invocation(*context, event);
  CHECK(event.services == std::vector<std::string>{"office/session"});
  CHECK(event.limits_given == Presence::absent);
  CHECK(check_invocation(event));

  const auto again = recorded_invocation(event, RunId{"r"}, desk.journal, nullptr,
                                         {{"office", lent}, {"other", {}}});
  REQUIRE(again);
  CHECK((*again)->tenant() == "acme");
  CHECK((*again)->identity() == "ann");
  CHECK((*again)->started_by() == "bot");
  CHECK((*again)->session_id() == "s");
  CHECK((*again)->trace_parent() == "t");
  CHECK((*again)->services().session == lent.session);
  CHECK_FALSE((*again)->resource_limits());
}

TEST_CASE("a recorded service that is nowhere registered is named") {
  Host desk;
  RunStarted event;
  event.services = {"office/session"};

  const auto none = recorded_invocation(event, RunId{"r"}, desk.journal, nullptr, {});
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::not_found);
  CHECK(none.error().message.find("'office/session'") != std::string::npos);

  InvocationServices lent;
  lent.session = std::make_shared<NoSession>();
  CHECK(recorded_invocation(event, RunId{"r"}, desk.journal, &lent, {}));
}

TEST_CASE("texts of a context are plain and bounded") {
  RunStarted event;
  event.identity = "a\x1b[2J";
  CHECK_FALSE(check_invocation(event));
  event.identity = std::string(kInvocationTextBytesMax, 'x');
  CHECK(check_invocation(event));
  event.services = {std::string(kServiceNameBytesMax + 1, 'x')};
  CHECK_FALSE(check_invocation(event));
}

}  // namespace pawl
