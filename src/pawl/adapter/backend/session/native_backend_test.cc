#include "pawl/adapter/backend/session/native_backend.h"

#include <stdexcept>

#include "pawl/adapter/backend/session/backend_test_support.h"
#include "tests/contract/backend_contract.h"

namespace pawl::backend {
namespace {

using Kind = BackendOutcome::Kind;

std::unique_ptr<Backend> make_with_functions(Loop& loop, BackendOptions options) {
  NativeFunctions functions;
  functions.bash = [](const ExecutionContext& context, const ShellCommand& command,
                      const std::function<bool()>& stopped) -> BackendOutcome {
    if (command.command == "throw") throw std::runtime_error("the host's own fault");
    while (command.command == "wait" && !stopped()) {
    }
    if (command.command == "make") contract::write_file(context.working_directory + "/m", "abc");
    BackendOutcome outcome;
    outcome.kind = stopped() ? Kind::aborted : Kind::ok;
    outcome.output = command.command == "flood" ? std::string(1'000'000, 'x') : command.command;
    return outcome;
  };
  return make_native_backend(loop, std::move(options), std::move(functions));
}

TEST_CASE("the native backend keeps the contract of file tools") {
  contract::BackendSubject subject;
  subject.programs = contract::BackendSubject::Programs::none;
  subject.make = [](Loop& loop) { return make_native_backend(loop, test_options()); };
  contract::check_backend_contract(subject);
}

TEST_CASE("functions of the host run without a process, and cannot hurt it") {
  Bench bench(&make_with_functions);
  CHECK(bench.bash("hello").output == "hello");
  CHECK(bench.bash("hello").level == IsolationLevel::native);
  CHECK(bench.bash("throw").kind == Kind::failed);
  CHECK(bench.bash("throw").output == "the host's own fault");
  CHECK(bench.bash("make").files.size() == 1);
  const BackendOutcome flood = bench.bash("flood");
  CHECK(flood.output.size() <= bench.context.limits.output_bytes);
  CHECK(flood.output_length == 1'000'000);
  CHECK(bench.exec({"ls"}).kind == Kind::failed);

  contract::BackendCall waiting;
  waiting.operation = bench.session().bash({"wait", {}, {}, {}}, waiting.callback());
  waiting.operation->abort();
  REQUIRE(bench.loop.run_until([&] { return waiting.outcome.has_value(); }));
  CHECK(waiting.outcome->kind == Kind::aborted);
}

}  // namespace
}  // namespace pawl::backend
