// Charters name backends: those of Pawl, and those that a host has registered.
#include <doctest/doctest.h>

#include <unistd.h>

#include "pawl/adapter/asio/asio_loop.h"
#include "pawl/adapter/backend/session/process_backend.h"
#include "pawl/app/program_models.h"
#include "pawl/app/program_tools.h"
#include "pawl/base/files.h"
#include "pawl/service/service.h"
#include "pawl/testing/journal_memory/journal_memory.h"
#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

constexpr const char* kScript =
    "replies:\n"
    "  - call: [{ tool: create_file, input: { path: made.txt, file_text: hello } }]\n"
    "  - text: Done.\n";

struct Books {
  int inits = 0;
  std::string run;
};

Books& books() {
  static Books instance;
  return instance;
}

// A host's own: in process, and it keeps books.
class BookedBackend final : public Backend {
 public:
  explicit BookedBackend(std::unique_ptr<Backend> inner) : inner_(std::move(inner)) {}
  std::string_view name() const override { return "booked"; }
  Result<IsolationLevel> probe() override { return inner_->probe(); }
  std::unique_ptr<Operation> init(
      ExecutionContext context,
      std::function<void(Result<std::shared_ptr<BackendSession>>)> done) override {
    ++books().inits;
    books().run = context.run.text;
    return inner_->init(std::move(context), std::move(done));
  }

 private:
  std::unique_ptr<Backend> inner_;
};

struct Stage {
  explicit Stage(ToolboxOptions options = {})
      : assembler(loop, models, program_parts(loop, std::move(options))) {
    REQUIRE(write_new_file(directory / "s.yaml", kScript));
  }
  Assembled with(const std::string& sandbox) {
    REQUIRE(write_new_file(directory / "c.yaml",
                           "name: c\nmodels: { main: scripted/s.yaml }\ninstructions: Go.\n"
                           "tools: { use: [create_file] }\nsandbox: " +
                               sandbox + "\n"));
    return assembler.from_file(directory / "c.yaml");
  }

  TempDirectory directory;
  AsioLoop loop;
  ModelLayer models{loop, with_program_parts({})};
  AgentAssembler assembler;
};

std::string all(const std::vector<std::string>& faults) {
  std::string text;
  for (const std::string& fault : faults) text += fault + "\n";
  return text;
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("H12 a charter names a backend that the host registered, and its calls run there") {
  REQUIRE(backend::register_backend("booked", [](Loop& loop, const backend::BackendOptions& how) {
    return std::make_unique<BookedBackend>(*backend::make_backend("native", loop, how));
  }));
  Stage stage;
  const Assembled assembled = stage.with("{ level: booked }");
  INFO(all(assembled.faults));
  REQUIRE(assembled.agent);
  MemoryJournal memory{stage.loop};
  Engine engine(
      EngineOptions{stage.loop, {&memory, &memory, &memory, &memory}, {}, AgentSource{}, "stage"});
  Service service(engine);
  service.start({*assembled.agent, "go", RunId{"r"}, nullptr},
                [](const Result<RunId>& accepted) { CHECK(accepted); });
  stage.loop.run_until([&] {
    const auto runs = service.list({});
    return runs && !runs->empty() && runs->front().status != "running";
  });

  CHECK(service.list({})->front().status == "done");
  CHECK(books().inits == 1);
  CHECK(books().run == "r");
  CHECK(*read_file(stage.directory / "made.txt", 100) == "hello");
}

TEST_CASE("H12 a backend that nobody registered is refused with the names there are") {
  Stage stage;
  const Assembled assembled = stage.with("{ level: nobodys }");
  CHECK_FALSE(assembled.agent);
  CHECK(holds(all(assembled.faults), "no backend is called nobodys (there are: "));
  CHECK(holds(all(assembled.faults), "namespace"));
}

TEST_CASE("a level that cannot be had for this network or these roots is refused at the start") {
  {
    Stage stage;
    const Assembled assembled = stage.with("{ level: local, network: none }");
    CHECK_FALSE(assembled.agent);
    CHECK(holds(all(assembled.faults), "write network: full, or use `namespace`"));
  }
  Stage stage;
  const auto landlock = backend::make_backend("landlock", stage.loop, {});
  if (::geteuid() != 0 || !(*landlock)->probe()) {
    MESSAGE("skipped: only root can have this, where there is Landlock");
    return;
  }
  const Assembled assembled = stage.with("{ level: landlock, write: [.] }");
  CHECK_FALSE(assembled.agent);
  CHECK(holds(all(assembled.faults), "`landlock` needs a workspace that is not root's"));
  CHECK(holds(all(assembled.faults), "chown it, or use `namespace`"));
}

TEST_CASE("a policy that demands a level refuses charters below it, with place and remedy") {
  const auto within = [](SandboxDemand demand) {
    UserPolicy policy;
    policy.file = "/etc/p.yaml";
    policy.sandbox = demand;
    ToolboxOptions options;
    options.policies = {std::move(policy)};
    return options;
  };
  Stage stage(within({IsolationLevel::namespaces, 0}));
  const Assembled refused = stage.with("{ level: local, network: full }");
  CHECK_FALSE(refused.agent);
  const std::string said = all(refused.faults);
  CAPTURE(said);
  CHECK(holds(said, "c.yaml:5:19: the policy /etc/p.yaml demands the level namespace"));
  CHECK(holds(said, "or the key sandbox in /etc/p.yaml"));

  Stage newer(within({{}, kPolicyLandlockMax}));
  const Assembled too_old = newer.with("{ level: namespace }");
  CHECK_FALSE(too_old.agent);
  if (!holds(all(too_old.faults), "no sandbox")) {
    CHECK(holds(all(too_old.faults), "demands version 64 of Landlock"));
  }

  Stage none(within({}));
  CHECK(none.with("{ level: local, network: full }").agent);
}

TEST_CASE("a policy that demands a level refuses commands on the host") {
  UserPolicy policy;
  policy.file = "/etc/p.yaml";
  policy.sandbox.level = IsolationLevel::landlock;
  ToolboxOptions options;
  options.policies = {policy};
  Stage stage(options);
  REQUIRE(
      write_new_file(stage.directory / "h.yaml",
                     "name: c\nmodels: { main: scripted/s.yaml }\ninstructions: Go.\n"
                     "tools:\n  define:\n    here: { command: [/bin/true], description: x }\n"));
  const Assembled refused = stage.assembler.from_file(stage.directory / "h.yaml");
  CHECK_FALSE(refused.agent);
  CHECK(holds(all(refused.faults), "demands the level landlock for every tool"));
}

}  // namespace pawl
