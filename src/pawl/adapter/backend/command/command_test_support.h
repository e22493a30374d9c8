// What the tests of command tools share: a directory of their own, a loop with a pool, and ways to
// wait for processes.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "pawl/adapter/backend/command/command_tool.h"
#include "pawl/adapter/backend/command/proc_table.h"
#include "pawl/base/descriptor.h"
#include "tests/support/eventually.h"
#include "tests/support/test_loop.h"

namespace pawl::tool_command {

class TestDirectory {
 public:
  TestDirectory() {
    std::string name = std::filesystem::temp_directory_path() / "pawl_command_XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;
  ~TestDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path() const { return path_; }
  std::string path(const std::string& name) const { return path_ / name; }

  void write(const std::string& name, const std::string& text, mode_t mode = 0644) const {
    {
      std::ofstream file(path(name));
      file << text;
    }
    REQUIRE(::chmod(path(name).c_str(), mode) == 0);
  }

  std::string read(const std::string& name) const {
    std::ifstream file(path(name));
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  // The number that a script writes with `echo $$ >NAME`.
  pid_t await_pid(const std::string& name) const {
    REQUIRE(eventually([&] { return read(name).ends_with('\n'); }));
    return static_cast<pid_t>(std::stol(read(name)));
  }

 private:
  std::filesystem::path path_;
};

// A zombie is not alive.
inline bool is_alive(pid_t pid) {
  const auto stat = read_process_stat(pid);
  return stat && stat->life == ProcessStat::Life::running;
}

inline ToolInvocation invocation_of(std::string input = "{}", std::uint64_t call = 7) {
  ToolInvocation invocation;
  invocation.run = RunId{"run-" + std::to_string(::getpid())};
  invocation.call = CallId{call};
  invocation.key = "00ff" + std::to_string(call);
  invocation.input = std::move(input);
  return invocation;
}

inline CommandSpec command(std::vector<std::string> argv, const std::string& directory = "") {
  CommandSpec spec;
  spec.tool.name = "probe";
  spec.command = std::move(argv);
  spec.working_directory = directory;
  return spec;
}

inline CommandSpec script(const std::string& text, const std::string& directory = "") {
  return command({"sh", "-c", text}, directory);
}

inline CommandSpec with_timeout(CommandSpec spec, std::int64_t timeout_ms) {
  spec.tool.timeout_ms = timeout_ms;
  return spec;
}

inline CommandSpec with_cap(CommandSpec spec, std::uint64_t bytes_max) {
  spec.tool.output_bytes_max = bytes_max;
  return spec;
}

// One call under way.
struct Call {
  std::optional<ToolOutcome> outcome;
  int callbacks = 0;
  std::unique_ptr<Operation> operation;
};

struct CommandBench {
  TestLoop loop;
  std::shared_ptr<CommandPool> pool = std::make_shared<CommandPool>();
  std::vector<std::unique_ptr<Tool>> tools;  // outlive their calls

  // The caller keeps what it needs of the call alive.
  std::unique_ptr<Call> start(CommandSpec spec,
                              const ToolInvocation& invocation = invocation_of()) {
    tools.push_back(make_command_tool(std::move(spec), loop, pool));
    auto call = std::make_unique<Call>();
    call->operation = tools.back()->invoke(invocation, [seen = call.get()](ToolOutcome outcome) {
      seen->outcome = std::move(outcome);
      ++seen->callbacks;
    });
    return call;
  }

  ToolOutcome finish(const Call& call) {
    REQUIRE(loop.run_until([&] { return call.outcome.has_value(); }));
    return *call.outcome;
  }

  ToolOutcome run(CommandSpec spec, const ToolInvocation& invocation = invocation_of()) {
    const auto call = start(std::move(spec), invocation);
    return finish(*call);
  }

  ToolStatus ask(CommandSpec spec, const ToolInvocation& invocation = invocation_of()) {
    const auto tool = make_command_tool(std::move(spec), loop, pool);
    std::optional<ToolStatus> seen;
    const auto operation =
        tool->status(invocation, [&](ToolStatus status) { seen = std::move(status); });
    REQUIRE(loop.run_until([&] { return seen.has_value(); }));
    return *seen;
  }
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace pawl::tool_command
