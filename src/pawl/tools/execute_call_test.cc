#include "pawl/backend.h"

#include <doctest/doctest.h>

#include <optional>

#include "pawl/gate/call_gate.h"
#include "pawl/tools/files_session_test.h"

namespace pawl {
namespace {

struct NoOperation final : Operation {
  void abort() override {}
};

// Says what it is told to, later, and remembers what it was asked.
class FixedGate final : public CallGate {
 public:
  explicit FixedGate(Loop& loop) : loop_(loop) {}
  std::vector<CallJudgement> judge(const ProposedPlan&) override { return {verdict}; }
  std::unique_ptr<Operation> ask(const ProposedPlan& plan,
                                 std::function<void(CallJudgement)> done) override {
    asked.push_back(plan.calls.front().tool);
    loop_.post([this, done = std::move(done)] { done(verdict); });
    return std::make_unique<NoOperation>();
  }
  Digest binding_of(const ProposedCall&) override { return {}; }

  CallJudgement verdict = CallJudgement::allowed();
  std::vector<std::string> asked;

 private:
  Loop& loop_;
};

// Lends one session, and counts.
class LendingBackend final : public Backend {
 public:
  LendingBackend(Loop& loop, std::shared_ptr<FilesSession> session)
      : loop_(loop), session_(std::move(session)) {}
  std::string_view name() const override { return "lending"; }
  Result<IsolationLevel> probe() override { return IsolationLevel::namespaces; }
  std::unique_ptr<Operation> init(
      ExecutionContext,
      std::function<void(Result<std::shared_ptr<BackendSession>>)> done) override {
    ++inits;
    loop_.post([this, done = std::move(done)] {
      if (refuses) return done(Error{ErrorCode::unavailable, "not now"});
      done(std::shared_ptr<BackendSession>(session_));
    });
    return std::make_unique<NoOperation>();
  }
  int inits = 0;
  bool refuses = false;

 private:
  Loop& loop_;
  std::shared_ptr<FilesSession> session_;
};

struct Bureau {
  TestLoop loop;
  FixedGate gate{loop};
  std::shared_ptr<FilesSession> session = std::make_shared<FilesSession>(loop);
  std::shared_ptr<LendingBackend> backend = std::make_shared<LendingBackend>(loop, session);

  ToolOutcome run(const char* tool, const char* input) {
    std::optional<ToolOutcome> seen;
    const auto operation = execute(loop, gate, {tool, input}, {}, backend,
                                   [&](ToolOutcome outcome) { seen = std::move(outcome); });
    CHECK_FALSE(seen.has_value());  // never from inside
    REQUIRE(loop.run_until([&] { return seen.has_value(); }));
    return *seen;
  }
};

TEST_CASE("a call is executed by its name, after the gate, in a session of its own (H12)") {
  Bureau bureau;
  const ToolOutcome made = bureau.run("create_file", R"({"path":"a","file_text":"one"})");
  CHECK(made.kind == ToolOutcome::Kind::succeeded);
  CHECK(made.content.starts_with(R"({"ok":true,"output":)"));
  CHECK(made.content.find(R"("files":[{"path":"a","size":3,"sha256":)") != std::string::npos);
  const ToolOutcome again = bureau.run("create_file", R"({"path":"a","file_text":"two"})");
  CHECK(again.kind == ToolOutcome::Kind::failed);  // over a file, without `overwrite`
  CHECK(bureau.run("view", R"({"path":"a"})").content.find("one") != std::string::npos);
  CHECK(bureau.gate.asked == std::vector<std::string>{"create_file", "create_file", "view"});
  CHECK(bureau.backend->inits == 3);
}

TEST_CASE("what the gate does not allow does not run, and makes no session") {
  Bureau bureau;
  for (const CallVerdict verdict : {CallVerdict::deny, CallVerdict::ask, CallVerdict::undecided}) {
    bureau.gate.verdict.verdict = verdict;
    bureau.gate.verdict.reason = "because";
    const ToolOutcome refused = bureau.run("create_file", R"({"path":"a","file_text":"x"})");
    CHECK(refused.kind == ToolOutcome::Kind::failed);
    CHECK(refused.content.find("because") != std::string::npos);
  }
  CHECK(bureau.backend->inits == 0);
  CHECK_FALSE(std::filesystem::exists(bureau.session->path("a")));
}

TEST_CASE("an unknown tool, a wrong input and a session that cannot be had are failures") {
  Bureau bureau;
  CHECK(bureau.run("rm", "{}").content.find("rm") != std::string::npos);
  CHECK(bureau.run("view", R"({"path":7})").kind == ToolOutcome::Kind::failed);
  CHECK(bureau.run("ask_user", R"({"question":"?"})").kind == ToolOutcome::Kind::failed);
  bureau.backend->refuses = true;
  CHECK(bureau.run("view", R"({"path":"a"})").content.find("not now") != std::string::npos);
}

TEST_CASE("an execution that is aborted answers, and one that is destroyed is silent") {
  Bureau bureau;
  int answers = 0;
  auto operation = execute(bureau.loop, bureau.gate, {"view", R"({"path":"a"})"}, {},
                           bureau.backend, [&](const ToolOutcome& outcome) {
                             ++answers;
                             CHECK(outcome.kind == ToolOutcome::Kind::aborted);
                           });
  operation->abort();
  CHECK(bureau.loop.run_until([&] { return answers > 0; }));
  operation = execute(bureau.loop, bureau.gate, {"view", R"({"path":"a"})"}, {}, bureau.backend,
                      [&](const ToolOutcome&) { ++answers; });
  operation.reset();
  bureau.loop.run_until([] { return false; }, 20);
  CHECK(answers == 1);
}

}  // namespace
}  // namespace pawl
