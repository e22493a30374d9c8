// A backend of somebody else: registered by name, and held to the suite that Pawl installs.
//
// It lends its sessions from `local`, tells commands whose they are, refuses one directory, and
// counts what it has given and got back. Calls of common tools are executed there by their names.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <pawl/backend.h>
#include <pawl/permissions.h>
#include <pawl/tool.h>

#include <tests/contract/backend_contract.h>

namespace {

using namespace pawl;

struct Books {
  int inits = 0;
  int cleanups = 0;
};
Books books;

class LentSession final : public BackendSession {
 public:
  explicit LentSession(std::shared_ptr<BackendSession> inner) : inner_(std::move(inner)) {}
  const ExecutionContext& context() const override { return inner_->context(); }
  IsolationLevel level() const override { return inner_->level(); }
  std::unique_ptr<Operation> bash(ShellCommand command, Done done) override {
    return inner_->bash(std::move(command), std::move(done));
  }
  std::unique_ptr<Operation> exec(ShellCommand command, Done done) override {
    return inner_->exec(std::move(command), std::move(done));
  }
  std::unique_ptr<Operation> view(std::string path, std::optional<ViewRange> range,
                                  Done done) override {
    return inner_->view(std::move(path), range, std::move(done));
  }
  std::unique_ptr<Operation> create_file(FileWrite write, Done done) override {
    return inner_->create_file(std::move(write), std::move(done));
  }
  std::unique_ptr<Operation> str_replace(StrReplace edit, Done done) override {
    return inner_->str_replace(std::move(edit), std::move(done));
  }
  std::unique_ptr<Operation> cleanup(std::function<void(Status)> done) override {
    ++books.cleanups;
    return inner_->cleanup(std::move(done));
  }

 private:
  std::shared_ptr<BackendSession> inner_;
};

class LentBackend final : public Backend {
 public:
  explicit LentBackend(std::unique_ptr<Backend> inner) : inner_(std::move(inner)) {}
  std::string_view name() const override { return "lent"; }
  Result<IsolationLevel> probe() override { return inner_->probe(); }
  std::unique_ptr<Operation> init(
      ExecutionContext context,
      std::function<void(Result<std::shared_ptr<BackendSession>>)> done) override {
    context.environment["LENT_TO"] = context.run.text;  // init may change the context
    return inner_->init(std::move(context), [done = std::move(done)](auto session) {
      if (!session) return done(session.error());
      ++books.inits;
      done(std::shared_ptr<BackendSession>(std::make_shared<LentSession>(*std::move(session))));
    });
  }

 private:
  std::unique_ptr<Backend> inner_;
};

contract::BackendSubject subject() {
  contract::BackendSubject made;
  made.make = [](Loop& loop) { return *backend::make_backend("lent", loop); };
  made.adapt = [](ExecutionContext& context) { context.network.access = NetworkAccess::full; };
  return made;
}

void register_lent() {
  static const Status registered =
      backend::register_backend("lent", [](Loop& loop, const backend::BackendOptions& options) {
        return std::make_unique<LentBackend>(*backend::make_backend("local", loop, options));
      });
  REQUIRE(registered);
}

TEST_CASE("a backend of one's own is found by its name and keeps the contract") {
  register_lent();
  contract::check_backend_contract(subject());
  CHECK(books.inits > 5);
  CHECK(books.inits == books.cleanups);
  contract::ContractSession work(subject());
  CHECK(work.bash("echo $LENT_TO").output == "contract\n");
  CHECK(work.backend().name() == "lent");
}

TEST_CASE("a call is executed by its name in a backend of one's own, if the gate lets it") {
  register_lent();
  const contract::BackendSubject lent = subject();
  TestLoop loop;
  const contract::ContractDirectory directory;
  const std::shared_ptr<Backend> backend = lent.make(loop);
  ExecutionContext context;
  context.run = RunId{"mine"};
  context.working_directory = directory.path();
  context.write_roots = {directory.path()};
  lent.adapt(context);
  GatePolicy policy;
  policy.allow = std::vector<std::string>{"exec", "create_file"};
  std::map<std::string, GatedTool> tools;
  for (const char* tool : {"exec", "create_file", "bash"}) tools[tool].traits.name = tool;
  const auto gate = make_policy_gate(policy, tools, loop);
  REQUIRE(gate);
  const auto run = [&](const char* tool, const char* input) {
    std::optional<ToolOutcome> seen;
    const auto operation = execute(loop, **gate, {tool, input}, context, backend,
                                   [&](ToolOutcome outcome) { seen = std::move(outcome); });
    REQUIRE(loop.run_until([&] { return seen.has_value(); }));
    return *std::move(seen);
  };
  const Books before = books;
  const ToolOutcome made = run("create_file", R"({"path":"a","file_text":"one"})");
  CHECK(made.kind == ToolOutcome::Kind::succeeded);
  CHECK(contract::holds(made.content, R"("files":[{"path":"a","size":3,)"));
  CHECK(contract::read_file(directory / "a") == "one");
  CHECK(contract::holds(run("exec", R"({"argv":["printenv","LENT_TO"]})").content, "mine"));
  CHECK(books.inits == before.inits + 2);
  const ToolOutcome refused = run("bash", R"({"command":"touch made"})");
  CHECK(refused.kind == ToolOutcome::Kind::failed);
  CHECK_FALSE(std::filesystem::exists(directory / "made"));
  CHECK(books.inits == before.inits + 2);
  CHECK(loop.run_until([&] { return books.cleanups == books.inits; }));
}

// The suite can fail: one that swallows the note about a new shell is not passed by it.
TEST_CASE("a backend that breaks the contract is found out" * doctest::should_fail()) {
  contract::BackendSubject broken = subject();
  broken.adapt = [](ExecutionContext& context) {
    context.network.access = NetworkAccess::full;
    context.limits.output_bytes = 20;
  };
  contract::check_shell_state(broken);
}

}  // namespace
