#include "pawl/adapter/backend/command/sealed_program.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pawl/adapter/backend/command/command_test_support.h"

namespace pawl::tool_command {
namespace {

constexpr const char* kScript = "#!/bin/sh\necho \"trusted in $PAWL_SCRIPT_DIR\"\ncat\n";

CommandSpec sealed_script(const TestDirectory& directory) {
  directory.write("check.sh", kScript, 0755);
  CommandSpec spec;
  spec.command = {directory.path("check.sh")};
  spec.working_directory = directory.path();
  spec.sealed = seal_program(kScript).value();
  return spec;
}

}  // namespace

TEST_CASE("a sealed script runs with its input and is told the directory it came from") {
  const TestDirectory directory;
  CommandBench bench;

  const ToolOutcome outcome = bench.run(sealed_script(directory), invocation_of(R"({"a":1})"));

  CHECK(outcome.kind == ToolOutcome::Kind::succeeded);
  CHECK(outcome.content == "trusted in " + directory.path() + "\n{\"a\":1}");
}

TEST_CASE("a script that is swapped between the check and the start never runs") {
  const TestDirectory directory;
  CommandSpec spec = sealed_script(directory);
  spec.admit = [&directory] {
    directory.write("check.sh", "#!/bin/sh\necho planted; touch planted\n", 0755);
    return ok();
  };
  CommandBench bench;

  const ToolOutcome outcome = bench.run(spec, invocation_of());

  CHECK(outcome.content.find("trusted in ") == 0);
  CHECK_FALSE(std::filesystem::exists(directory.path("planted")));
}

TEST_CASE("a command that is not admitted is not started, and the call says why") {
  const TestDirectory directory;
  CommandSpec spec = script("touch started", directory.path());
  spec.admit = []() -> Status { return Error{ErrorCode::conflict, "pay.sh has changed"}; };
  CommandBench bench;

  const ToolOutcome outcome = bench.run(spec, invocation_of());

  CHECK(outcome.kind == ToolOutcome::Kind::failed);
  CHECK(outcome.content.find("pay.sh has changed") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(directory.path("started")));
}

TEST_CASE("a sealed program cannot be changed, by whoever has its descriptor") {
  const SealedProgram sealed = seal_program(kScript).value();
  const std::string path = "/proc/self/fd/" + std::to_string(sealed->number());
  const Descriptor writing(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (writing) {
    CHECK(::write(writing.number(), "x", 1) < 0);
    CHECK(::ftruncate(writing.number(), 0) < 0);
    CHECK(::mmap(nullptr, 1, PROT_WRITE, MAP_SHARED, writing.number(), 0) == MAP_FAILED);
  }
  CHECK(sealed->number() >= 16);
}

}  // namespace pawl::tool_command
