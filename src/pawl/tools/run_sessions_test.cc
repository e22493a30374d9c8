#include "pawl/tools/run_sessions.h"

#include <doctest/doctest.h>

#include "tests/support/test_loop.h"

namespace pawl {
namespace {

struct Nothing final : Operation {
  void abort() override {}
};

class CountedSession final : public BackendSession {
 public:
  CountedSession(Loop& loop, ExecutionContext context, int& cleaned)
      : loop_(loop), context_(std::move(context)), cleaned_(cleaned) {}
  const ExecutionContext& context() const override { return context_; }
  IsolationLevel level() const override { return IsolationLevel::native; }
  std::unique_ptr<Operation> bash(ShellCommand, Done) override { return nullptr; }
  std::unique_ptr<Operation> exec(ShellCommand, Done) override { return nullptr; }
  std::unique_ptr<Operation> view(std::string, std::optional<ViewRange>, Done) override {
    return nullptr;
  }
  std::unique_ptr<Operation> create_file(FileWrite, Done) override { return nullptr; }
  std::unique_ptr<Operation> str_replace(StrReplace, Done) override { return nullptr; }
  std::unique_ptr<Operation> cleanup(std::function<void(Status)> done) override {
    ++cleaned_;
    loop_.post([done] { done(ok()); });
    return std::make_unique<Nothing>();
  }

 private:
  Loop& loop_;
  ExecutionContext context_;
  int& cleaned_;
};

class CountedBackend final : public Backend {
 public:
  explicit CountedBackend(Loop& loop) : loop_(loop) {}
  std::string_view name() const override { return "counted"; }
  Result<IsolationLevel> probe() override { return IsolationLevel::native; }
  std::unique_ptr<Operation> init(
      ExecutionContext context,
      std::function<void(Result<std::shared_ptr<BackendSession>>)> done) override {
    ++made;
    loop_.post([this, context, done] {
      if (refuses) return done(Error{ErrorCode::unavailable, "not now"});
      done(std::shared_ptr<BackendSession>(
          std::make_shared<CountedSession>(loop_, context, cleaned)));
    });
    return std::make_unique<Nothing>();
  }
  int made = 0;
  int cleaned = 0;
  bool refuses = false;

 private:
  Loop& loop_;
};

struct Desk {
  TestLoop loop;
  std::shared_ptr<CountedBackend> backend = std::make_shared<CountedBackend>(loop);
  std::shared_ptr<RunSessions> sessions = std::make_shared<RunSessions>(
      backend, ExecutionContext{},
      [this](ExecutionContext&) -> Result<std::shared_ptr<void>> { return kept; },
      [this] { return is_full; }, loop);
  bool is_full = false;
  std::shared_ptr<void> kept = std::make_shared<int>(0);
  std::vector<std::shared_ptr<BackendSession>> given;
  std::vector<std::string> refused;

  void ask(const std::string& run) {
    ToolInvocation invocation;
    invocation.run = RunId{run};
    sessions->source()(invocation, [this](auto session) {
      if (session) {
        given.push_back(*session);
      } else {
        refused.push_back(session.error().message);
      }
    });
  }
};

TEST_CASE("a run has one session, made when it is first asked for, with the run in its context") {
  Desk desk;
  CHECK(desk.backend->made == 0);
  desk.ask("a");
  desk.ask("a");
  desk.ask("b");
  desk.loop.advance(1);
  desk.ask("a");

  CHECK(desk.backend->made == 2);
  REQUIRE(desk.given.size() == 4);
  CHECK(desk.given[0] == desk.given[1]);
  CHECK(desk.given[0] == desk.given[3]);
  CHECK(desk.given[0] != desk.given[2]);
  CHECK(desk.given[0]->context().run.text == "a");
}

TEST_CASE("while the disk is full a session that cannot be made is tried again") {
  Desk desk;
  desk.backend->refuses = true;
  desk.is_full = true;
  desk.ask("a");
  desk.ask("gone");
  desk.loop.advance(10'000);
  CHECK(desk.backend->made > 20);
  CHECK(desk.refused.empty());
  desk.sessions->release(RunId{"gone"});
  desk.ask("a");
  desk.loop.advance(1);

  desk.backend->refuses = false;
  desk.loop.advance(1'000);
  CHECK(desk.given.size() == 2);
  const int made = desk.backend->made;
  desk.loop.advance(1'000);
  CHECK(desk.backend->made == made);
  CHECK(desk.sessions->size() == 1);
}

TEST_CASE("a session that cannot be made for another reason is refused at once") {
  Desk desk;
  desk.backend->refuses = true;
  desk.ask("a");
  desk.loop.advance(1);
  CHECK(desk.refused == std::vector<std::string>{"not now"});
}

TEST_CASE("a session is cleaned up when its run is let go, also one that was still being made") {
  Desk desk;
  desk.ask("a");
  desk.loop.advance(1);
  desk.sessions->release(RunId{"a"});
  desk.sessions->release(RunId{"a"});
  desk.loop.advance(1);
  CHECK(desk.backend->cleaned == 1);
  CHECK(desk.sessions->size() == 0);

  desk.ask("b");
  desk.sessions->release(RunId{"b"});
  desk.loop.advance(1);
  CHECK(desk.given.size() == 1);
  desk.ask("a");
  desk.loop.advance(1);
  CHECK(desk.given.size() == 2);
}

TEST_CASE("a session that could not be made is tried again by the next call") {
  Desk desk;
  desk.backend->refuses = true;
  desk.ask("a");
  desk.loop.advance(1);
  CHECK(desk.refused == std::vector<std::string>{"not now"});
  desk.backend->refuses = false;
  desk.ask("a");
  desk.loop.advance(1);
  CHECK(desk.given.size() == 1);
}

}  // namespace
}  // namespace pawl
