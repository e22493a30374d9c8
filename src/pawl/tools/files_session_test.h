// A session for tests: its files are real, its commands are what the test says.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pawl/adapter/backend/files/rooted_files.h"
#include "pawl/backend.h"
#include "tests/support/temp_directory.h"
#include "tests/support/test_loop.h"

namespace pawl {

class FilesSession : public BackendSession {
 public:
  static constexpr std::uint64_t kOutputBytes = 64U << 10U;
  enum class Commands { answer, hang };

  explicit FilesSession(Loop& loop) : loop_(loop) {
    for (const char* name : {"work", "artifacts"}) {
      std::filesystem::create_directory(directory_ / name);
    }
    context_.working_directory = directory_ / "work";
    context_.write_roots = {directory_ / "work"};
    context_.artifact_directory = directory_ / "artifacts";
    files_ = *backend::RootedFiles::open({context_.working_directory,
                                          context_.write_roots,
                                          {},
                                          context_.protected_names,
                                          context_.artifact_directory});
  }

  const ExecutionContext& context() const override { return context_; }
  IsolationLevel level() const override { return IsolationLevel::namespaces; }

  std::unique_ptr<Operation> bash(ShellCommand command, Done done) override {
    commands.push_back(std::move(command));
    return start(std::move(done), next);
  }
  std::unique_ptr<Operation> exec(ShellCommand command, Done done) override {
    return bash(std::move(command), std::move(done));
  }
  std::unique_ptr<Operation> view(std::string path, std::optional<ViewRange> range,
                                  Done done) override {
    return later(std::move(done), files_->view(path, range, kOutputBytes));
  }
  std::unique_ptr<Operation> create_file(FileWrite write, Done done) override {
    return later(std::move(done), files_->create_file(write));
  }
  std::unique_ptr<Operation> str_replace(StrReplace edit, Done done) override {
    return later(std::move(done), files_->str_replace(edit));
  }
  std::unique_ptr<Operation> file_request(FileRequest request, Done done) override {
    if (!has_file_requests) return nullptr;
    return later(std::move(done), files_->file_request(request, kOutputBytes));
  }
  std::unique_ptr<Operation> cleanup(std::function<void(Status)> done) override {
    loop_.post([done = std::move(done)] { done(ok()); });
    return std::make_unique<Pending>(loop_, nullptr);
  }

  std::string path(const std::string& name) const { return directory_ / ("work/" + name); }
  std::string artifact(const std::string& name) const { return directory_ / ("artifacts/" + name); }

  Commands behaviour = Commands::answer;
  BackendOutcome next;  // of the next command
  std::vector<ShellCommand> commands;
  bool has_file_requests = true;
  int aborts = 0;

 private:
  using Waiting = std::shared_ptr<Done>;

  class Pending : public Operation {
   public:
    Pending(Loop& loop, Waiting waiting, int* aborts = nullptr)
        : loop_(loop), waiting_(std::move(waiting)), aborts_(aborts) {}
    ~Pending() override {
      if (waiting_) *waiting_ = {};
    }
    void abort() override {
      if (aborts_ == nullptr) return;
      ++*aborts_;
      loop_.post([waiting = waiting_] {
        BackendOutcome outcome;
        outcome.kind = BackendOutcome::Kind::aborted;
        if (auto tell = std::exchange(*waiting, {})) tell(outcome);
      });
    }

   private:
    Loop& loop_;
    Waiting waiting_;
    int* aborts_;
  };

  std::unique_ptr<Operation> later(Done done, BackendOutcome outcome) {
    auto waiting = std::make_shared<Done>(std::move(done));
    loop_.post([waiting, outcome = std::move(outcome)] {
      if (auto tell = std::exchange(*waiting, {})) tell(outcome);
    });
    return std::make_unique<Pending>(loop_, std::move(waiting));
  }
  std::unique_ptr<Operation> start(Done done, const BackendOutcome& outcome) {
    if (behaviour == Commands::answer) return later(std::move(done), outcome);
    return std::make_unique<Pending>(loop_, std::make_shared<Done>(std::move(done)), &aborts);
  }

  Loop& loop_;
  TempDirectory directory_;
  ExecutionContext context_;
  std::shared_ptr<backend::RootedFiles> files_;
};

}  // namespace pawl
