// A session of a backend whose calls are waited for.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pawl/adapter/backend/files/rooted_files.h"
#include "pawl/adapter/backend/session/process_backend.h"
#include "tests/support/test_loop.h"

namespace pawl::bench {

class Session {
 public:
  using Kind = BackendOutcome::Kind;

  Session(const std::string& name, const std::string& directory, BackendLimits limits = {}) {
    const backend::BackendOptions options{
        backend::open_rooted_files<backend::RootedFiles, backend::FileRoots>(), nullptr};
    auto made = backend::make_backend(name, loop_, options);
    if (!made) return;
    backend_ = *std::move(made);
    ExecutionContext context;
    context.run = RunId{"bench"};
    context.working_directory = directory;
    context.write_roots = {directory};
    context.limits = limits;
    if (name == "local") context.network.access = NetworkAccess::full;
    bool answered = false;
    const auto operation = backend_->init(context, [&](auto opened) {
      answered = true;
      if (opened) session_ = *std::move(opened);
      if (!opened) fmt::print("{}: {}\n", name, opened.error().message);
    });
    loop_.run_until([&] { return answered; });
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (!session_) return;
    bool ended = false;
    const auto operation = session_->cleanup([&](Status) { ended = true; });
    loop_.run_until([&] { return ended; });
  }

  explicit operator bool() const { return session_ != nullptr; }
  BackendSession& operator*() { return *session_; }

  bool runs(std::vector<std::string> argv) { return exec(std::move(argv)) == Kind::ok; }
  bool does(const std::string& command) { return bash(command) == Kind::ok; }
  Kind exec(std::vector<std::string> argv) {
    return finish(
        [&](auto done) { return session_->exec({{}, std::move(argv), {}, {}}, std::move(done)); });
  }
  Kind bash(const std::string& command) {
    return finish(
        [&](auto done) { return session_->bash({command, {}, {}, {}}, std::move(done)); });
  }
  Kind finish(const std::function<std::unique_ptr<Operation>(BackendSession::Done)>& begin) {
    std::optional<BackendOutcome> seen;
    const auto operation = begin([&](BackendOutcome outcome) { seen = std::move(outcome); });
    loop_.run_until([&] { return seen.has_value(); });
    return seen ? seen->kind : Kind::failed;
  }

 private:
  TestLoop loop_;
  std::unique_ptr<Backend> backend_;
  std::shared_ptr<BackendSession> session_;
};

}  // namespace pawl::bench
