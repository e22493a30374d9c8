#include "pawl/surface/cli/drive.h"

#include <doctest/doctest.h>

#include <csignal>

#include "pawl/surface/cli/cli_test_support.h"

namespace pawl {
namespace {

struct Session {
  Session() { environment.tool->answer = FakeTool::Answer::never; }

  // Starts a run and raises the signals one after the other, once its tool is under way.
  int start(std::vector<int> signals) {
    StartRequest request;
    request.agent = environment.agent();
    request.id = RunId{"r1"};
    next(std::move(signals));
    return session.start(std::move(request), {});
  }
  void next(std::vector<int> signals) {
    constexpr std::int64_t kPollMs = 20;
    timer = environment.loop.after(kPollMs, [this, signals] {
      if (environment.tool->keys.empty()) return next(signals);
      if (signals.empty()) return;
      std::raise(signals.front());
      next({signals.begin() + 1, signals.end()});
    });
  }

  MemoryEnvironment environment;
  CliContext context{environment, {}, {}};
  std::unique_ptr<Workspace> workspace = *environment.open({}, IfAbsent::make);
  DriveSession session{context, *workspace, nullptr};
  std::unique_ptr<Timer> timer;
};

}  // namespace

TEST_CASE("an interrupt parks, a second one cancels") {
  Session session;

  CHECK(session.start({SIGINT, SIGINT}) == kExitCancelled);

  const auto details = session.workspace->service().show(RunId{"r1"});
  REQUIRE(details);
  CHECK(details->summary.status == "cancelled");
}

TEST_CASE("a run that cannot be started ends with the error") {
  Session session;
  StartRequest request;
  request.agent = session.environment.agent();
  request.agent.charter.model = "nobody/knows";
  request.id = RunId{"r1"};
  std::optional<Status> accepted;

  const int code =
      session.session.start(std::move(request), [&](const Status& status) { accepted = status; });

  CHECK(code == kExitUsage);
  REQUIRE(accepted);
  CHECK_FALSE(*accepted);
  CHECK_FALSE(session.environment.screen.err.empty());
}

TEST_CASE("a run that is not there cannot be carried on") {
  Session session;

  const int code = session.session.carry_on(
      RunId{"nobody"}, [&session] { return session.workspace->service().resume(RunId{"nobody"}); });

  CHECK(code == kExitError);
}

}  // namespace pawl
