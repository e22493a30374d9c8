// What the tests of this room share: a repository of the host's, and a session's side of it that is
// run on the host.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "pawl/adapter/backend/git/held_repository.h"
#include "tests/support/temp_directory.h"

namespace pawl::git {

// A shell's output; it must end well.
inline std::string run_shell(const std::string& text) {
  std::FILE* pipe = ::popen(text.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string output;
  std::array<char, 4096> piece{};
  while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), pipe)) {
    output.append(piece.data(), count);
  }
  const int status = ::pclose(pipe);
  CHECK_MESSAGE(status == 0, text);
  return output;
}

// In place of a sandbox: on the private directory itself, which finds the host's objects by a
// variable, because they are not mounted.
inline RunInside run_outside(const HeldRepository& held) {
  return [&held](const InsideCall& call) -> Result<int> {
    const TempDirectory scratch;
    std::ofstream(scratch / "in") << call.input;
    std::ofstream(scratch / "script") << call.argv[2];
    const std::string line = "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + held.repository().common +
                             "/objects /bin/sh " + (scratch / "script") + " '" + call.argv[4] +
                             "' '" + held.place().path() + "' <" + (scratch / "in");
    std::FILE* pipe = ::popen(line.c_str(), "r");
    std::array<char, 4096> piece{};
    while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), pipe)) {
      if (!call.take({piece.data(), count})) break;
    }
    const int status = ::pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  };
}

class GitBench {
 public:
  GitBench() : git_(*HostGit::find()) {
    std::filesystem::create_directories(work());
    outside("git init -q -b main . && echo a >a && git add a && git commit -qm first");
  }

  std::string work() const { return directory_ / "work"; }
  std::string data() const { return directory_ / "git"; }

  // As the operator, in the work tree.
  std::string outside(const std::string& text) const {
    return run_shell("cd " + work() + " && export HOME=" + directory_.path() + " " + identity() +
                     " && { " + text + "; } 2>&1");
  }
  // As a tool.
  std::string inside(const std::string& text) {
    return run_shell("cd " + work() + " && export GIT_DIR=" + held().place().path() +
                     " GIT_WORK_TREE=" + work() + " GIT_ALTERNATE_OBJECT_DIRECTORIES=" +
                     held().repository().common + "/objects HOME=" + directory_.path() + " " +
                     identity() + " && { " + text + "; } 2>/dev/null");
  }

  HeldRepository& held() {
    if (!held_) {
      auto repository = describe_repository(work(), {work()});
      REQUIRE(repository);
      auto made = HeldRepository::open(git_, *repository, data(), {::geteuid(), ::getegid()});
      if (!made) FAIL_CHECK(made.error().message);
      REQUIRE(made);
      held_.emplace(*std::move(made));
    }
    return *held_;
  }
  // What is said, a line each.
  std::string settle() {
    std::string text;
    HeldRepository& one = held();
    // The second look finds nothing left to do.
    for (int i = 0; i < 2 && one.is_touched(); ++i) {
      for (const std::string& said :
           one.settle(run_outside(one), [](const auto&) { return false; }, guarded)) {
        text += said + "\n";
      }
    }
    return text;
  }
  GuardedPaths guarded;
  void end() { held().finish(); }
  void forget() { held_.reset(); }  // as a kill would
  const HostGit& git() const { return git_; }

 private:
  static std::string identity() {
    return "GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@x GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@x "
           "GIT_CONFIG_NOSYSTEM=1";
  }

  TempDirectory directory_;
  HostGit git_;
  std::optional<HeldRepository> held_;
};

}  // namespace pawl::git
