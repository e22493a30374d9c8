// Command tools of charters in a sandbox.

#include "pawl/adapter/backend/command/command_test_support.h"
#include "pawl/adapter/backend/sandbox/confinement.h"

namespace pawl::tool_command {
namespace {

using Kind = ToolOutcome::Kind;

std::shared_ptr<const sandbox::Confinement> confined_to(const std::string& directory) {
  ExecutionContext context;
  context.working_directory = directory;
  context.write_roots = {directory};
  auto plan = sandbox::make_sandbox_plan(context, IsolationLevel::namespaces);
  REQUIRE(plan);
  auto place = sandbox::Confinement::prepare(*std::move(plan));
  if (!place) {
    std::printf("SKIPPED: %s\n", place.error().message.c_str());
    return nullptr;
  }
  return *std::move(place);
}

CommandSpec in_place(CommandSpec spec, std::shared_ptr<const sandbox::Confinement> place) {
  spec.place = std::move(place);
  return spec;
}

TEST_CASE("a command tool in a sandbox works in its roots and nowhere else") {
  const TestDirectory directory;
  const TestDirectory elsewhere;
  const auto place = confined_to(directory.path());
  if (!place) return;
  CommandBench bench;
  const auto run = [&](const std::string& text) {
    return bench.run(in_place(script(text, directory.path()), place));
  };
  CHECK(run("cat; echo made >made; echo $PAWL_KEY $HOME").content == "{}00ff7 /tmp\n");
  CHECK(directory.read("made") == "made\n");
  CHECK(run("echo x >" + elsewhere.path("made")).kind == Kind::failed);
  CHECK(run("id -u").content == "1000\n");
  CHECK(run("kill -0 " + std::to_string(::getpid())).kind == Kind::failed);
  CHECK(run("exit 3").kind == Kind::failed);
}

TEST_CASE("a confined command that hangs is gone at its timeout, with all it started") {
  const TestDirectory directory;
  const auto place = confined_to(directory.path());
  if (!place) return;
  CommandBench bench;
  const auto outcome = bench.run(in_place(
      with_timeout(script("(setsid sleep 600 &) ; sleep 600", directory.path()), 300), place));
  CHECK(outcome.kind == Kind::timed_out);
}

TEST_CASE("a confined command that does not exist says so") {
  const TestDirectory directory;
  const auto place = confined_to(directory.path());
  if (!place) return;
  CommandBench bench;
  const auto outcome = bench.run(in_place(command({"/opt/none"}, directory.path()), place));
  CHECK(outcome.kind == Kind::failed);
  CHECK(contains(outcome.content, "/opt/none"));
}

}  // namespace
}  // namespace pawl::tool_command
