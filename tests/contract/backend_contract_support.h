// What the suites of backend_contract.h share: a subject, a session on a directory of its own, and
// ways to look at the machine.
#pragma once

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pawl/backend.h"
#include "tests/support/test_loop.h"

namespace pawl::contract {

struct BackendSubject {
  std::function<std::unique_ptr<Backend>(Loop&)> make;
  // Where bash and exec run programs. A backend without processes has the file tools only.
  enum class Programs : std::uint8_t { run, none } programs = Programs::run;
  // What the start of a program can take, beside the time that a call is given: podman's is long.
  std::int64_t start_ms = 0;
  // May change what a session is made from: another directory, more roots.
  std::function<void(ExecutionContext&)> adapt = [](ExecutionContext&) {};
};

// One call: what came of it, and whether it came in the right way.
struct BackendCall {
  std::optional<BackendOutcome> outcome;
  int callbacks = 0;
  std::thread::id thread;
  std::unique_ptr<Operation> operation;

  BackendSession::Done callback() {
    return [this](BackendOutcome value) {
      outcome = std::move(value);
      ++callbacks;
      thread = std::this_thread::get_id();
    };
  }
};

class ContractDirectory {
 public:
  ContractDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "pawl-contract-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ContractDirectory(const ContractDirectory&) = delete;
  ContractDirectory& operator=(const ContractDirectory&) = delete;
  ~ContractDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
}

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Whether any process has `word` among its arguments.
inline bool runs(const std::string& word) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string line = read_file(entry.path() / "cmdline");
    if (holds(line, word) && name != std::to_string(::getpid())) return true;
  }
  return false;
}

// Waits for something that happens without the loop.
inline bool comes_true(TestLoop& loop, const std::function<bool()>& is_so) {
  constexpr int kLooksMax = 2000;
  for (int look = 0; look < kLooksMax; ++look) {
    if (is_so() || loop.run_until(is_so, 5)) return true;
  }
  return false;
}

class ContractSession {
 public:
  explicit ContractSession(const BackendSubject& subject,
                           const std::function<void(ExecutionContext&)>& change = nullptr)
      : backend_(subject.make(loop)) {
    context.run = RunId{"contract"};
    context.working_directory = directory.path();
    context.write_roots = {directory.path()};
    // In a directory of its own: all that lies beside it counts as the store's.
    context.artifact_directory = artifacts / "run";
    std::filesystem::create_directory(context.artifact_directory);
    subject.adapt(context);
    if (change) change(context);
    auto opened = open();
    if (!opened) FAIL_CHECK(opened.error().message);
    REQUIRE(opened);
    session_ = *std::move(opened);
  }
  ContractSession(const ContractSession&) = delete;
  ContractSession& operator=(const ContractSession&) = delete;
  ~ContractSession() { end(); }

  Result<std::shared_ptr<BackendSession>> open() {
    std::optional<Result<std::shared_ptr<BackendSession>>> opened;
    const auto operation = backend_->init(
        context,
        [&](Result<std::shared_ptr<BackendSession>> result) { opened = std::move(result); });
    CHECK_FALSE(opened.has_value());  // never from inside the call
    REQUIRE(loop.run_until([&] { return opened.has_value(); }));
    return *std::move(opened);
  }

  BackendSession& session() { return *session_; }
  Backend& backend() { return *backend_; }

  using Begin = std::function<std::unique_ptr<Operation>(BackendSession::Done)>;
  BackendOutcome finish(const Begin& begin) {
    BackendCall call;
    call.operation = begin(call.callback());
    CHECK(call.callbacks == 0);  // never from inside the call
    REQUIRE(call.operation != nullptr);
    REQUIRE(loop.run_until([&] { return call.outcome.has_value(); }));
    CHECK(call.thread == std::this_thread::get_id());
    CHECK(call.callbacks == 1);
    CHECK(call.outcome->level == session_->level());
    return *std::move(call.outcome);
  }

  BackendOutcome bash(const std::string& text, std::optional<std::int64_t> time_ms = std::nullopt) {
    return bash(ShellCommand{text, {}, {}, time_ms});
  }
  BackendOutcome bash(const ShellCommand& command) {
    return finish([&](auto done) { return session_->bash(command, std::move(done)); });
  }
  BackendOutcome exec(std::vector<std::string> argv, std::string input = {}) {
    const ShellCommand command{{}, std::move(argv), std::move(input), {}};
    return finish([&](auto done) { return session_->exec(command, std::move(done)); });
  }
  BackendOutcome view(const std::string& path, std::optional<ViewRange> range = std::nullopt) {
    return finish([&](auto done) { return session_->view(path, range, std::move(done)); });
  }
  BackendOutcome create(const FileWrite& write) {
    return finish([&](auto done) { return session_->create_file(write, std::move(done)); });
  }
  BackendOutcome replace(const StrReplace& edit) {
    return finish([&](auto done) { return session_->str_replace(edit, std::move(done)); });
  }

  void end() {
    if (!session_) return;
    std::optional<Status> seen;
    const auto operation = session_->cleanup([&](Status status) { seen = std::move(status); });
    CHECK(loop.run_until([&] { return seen.has_value(); }));
    CHECK((seen && seen->has_value()));
    session_.reset();
  }

  TestLoop loop;
  ContractDirectory directory;
  ContractDirectory artifacts;
  ExecutionContext context;

 private:
  std::unique_ptr<Backend> backend_;
  std::shared_ptr<BackendSession> session_;
};

}  // namespace pawl::contract
