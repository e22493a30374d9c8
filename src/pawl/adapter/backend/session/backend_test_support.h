// What the tests of backends share.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "pawl/adapter/backend/files/rooted_files.h"
#include "pawl/adapter/backend/session/process_backend.h"
#include "pawl/adapter/backend/session/session_files.h"
#include "tests/support/temp_directory.h"
#include "tests/support/test_loop.h"

namespace pawl::backend {

inline BackendOptions test_options() {
  return {open_rooted_files<RootedFiles, FileRoots>(), nullptr};
}

// As root, `landlock` wants a workspace that is not root's.
inline void give_away(const std::string& path) {
  constexpr uid_t kNobodyInParticular = 61998;
  if (::geteuid() != 0) return;
  REQUIRE(::chown(path.c_str(), kNobodyInParticular, kNobodyInParticular) == 0);
}

using MakeBackend = std::unique_ptr<Backend> (*)(Loop& loop, BackendOptions options);

// A backend and one session on a directory of its own.
class Bench {
 public:
  explicit Bench(MakeBackend make, BackendOptions options = test_options())
      : backend_(make(loop, std::move(options))) {
    context.run = RunId{"bench"};
    context.working_directory = directory.path();
    context.write_roots = {directory.path()};
    context.limits.time_ms *= time_scale();
    if (make == &make_local_backend) context.network.access = NetworkAccess::full;
    if (make == &make_landlock_backend) give_away(directory.path());
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() { end(); }

  Backend& backend() { return *backend_; }

  Result<std::shared_ptr<BackendSession>> open() {
    std::optional<Result<std::shared_ptr<BackendSession>>> opened;
    const auto operation = backend_->init(
        context,
        [&](Result<std::shared_ptr<BackendSession>> result) { opened = std::move(result); });
    REQUIRE(loop.run_until([&] { return opened.has_value(); }));
    return *std::move(opened);
  }

  BackendSession& session() {
    if (!session_) {
      auto opened = open();
      if (!opened) FAIL_CHECK(opened.error().message);
      REQUIRE(opened);
      session_ = *std::move(opened);
    }
    return *session_;
  }

  BackendOutcome bash(std::string text, std::optional<std::int64_t> time_ms = std::nullopt) {
    return bash(ShellCommand{std::move(text), {}, {}, time_ms});
  }
  BackendOutcome bash(ShellCommand command) {
    return finish([&](BackendSession::Done done) {
      return session().bash(std::move(command), std::move(done));
    });
  }
  BackendOutcome exec(std::vector<std::string> argv, std::string input = {}) {
    return finish([&](BackendSession::Done done) {
      return session().exec(ShellCommand{{}, std::move(argv), std::move(input), {}},
                            std::move(done));
    });
  }

  BackendOutcome finish(
      const std::function<std::unique_ptr<Operation>(BackendSession::Done)>& begin) {
    std::optional<BackendOutcome> seen;
    const auto operation = begin([&](BackendOutcome outcome) { seen = std::move(outcome); });
    REQUIRE(loop.run_until([&] { return seen.has_value(); }));
    return *std::move(seen);
  }

  void end() {
    if (!session_) return;
    std::optional<Status> seen;
    const auto operation = session_->cleanup([&](Status status) { seen = std::move(status); });
    CHECK(loop.run_until([&] { return seen.has_value(); }));
    session_.reset();
  }

  TestLoop loop;
  TempDirectory directory;
  ExecutionContext context;

 private:
  std::unique_ptr<Backend> backend_;
  std::shared_ptr<BackendSession> session_;
};

// Of a program that tries many things: a line "name=result" each.
inline std::map<std::string, std::string> results_in(const std::string& output) {
  std::map<std::string, std::string> results;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.rfind('=');
    if (at != std::string::npos) results[line.substr(0, at)] = line.substr(at + 1);
  }
  return results;
}

// Counts a skip where this machine cannot give the level.
inline bool is_there(MakeBackend make) {
  TestLoop loop;
  const auto backend = make(loop, test_options());
  const auto level = backend->probe();
  if (!level) {
    std::printf("SKIPPED: %s: %s\n", std::string(backend->name()).c_str(),
                level.error().message.c_str());
  }
  return level.has_value();
}

}  // namespace pawl::backend
