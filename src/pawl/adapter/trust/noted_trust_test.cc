#include "pawl/adapter/trust/noted_trust.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

struct Stage {
  Stage() { std::filesystem::create_directories(root); }

  std::string path(const std::string& name) const { return root + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }
  std::vector<UntrustedFile> look(const std::string& name) const {
    return trust.untrusted({read_host_file(path(name)).value()}).value();
  }
  bool trusts(const std::string& name) const { return look(name).empty(); }
  std::shared_ptr<void> session(const std::string& of = "") const {
    return trust.begin_session(RunId{"run-1"}, {of.empty() ? root : of}).value();
  }
  void start_with(const std::string& name) const {
    REQUIRE(trust.trust({read_host_file(path(name)).value()}));
  }
  // As a process does that is killed: its note stays.
  void killed_session(const std::function<void()>& inside) const {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto held = session();
      inside();
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
  }

  TempDirectory directory;
  std::string root = std::filesystem::canonical(directory.path()).string() + "/work";
  NotedTrust trust{std::filesystem::canonical(directory.path()).string() + "/state"};
};

}  // namespace

TEST_CASE("what a person changes while no session could write there is trusted") {
  const Stage stage;
  stage.write("a.yaml", "one");
  CHECK(stage.trusts("a.yaml"));
  CHECK_FALSE(std::filesystem::exists(stage.trust.directory()));  // nobody needed it yet

  stage.start_with("a.yaml");
  stage.session().reset();
  stage.write("a.yaml", "two");
  CHECK(stage.trusts("a.yaml"));
  stage.session().reset();
  stage.write("a.yaml", "three");
  stage.write("new.yaml", "new");
  CHECK(stage.trusts("a.yaml"));
  CHECK(stage.trusts("new.yaml"));
}

TEST_CASE("a file that a person changed before a session began is trusted after it") {
  const Stage stage;
  stage.write("a.yaml", "one");
  stage.write("b.yaml", "one");
  stage.start_with("a.yaml");
  stage.start_with("b.yaml");
  stage.write("b.yaml", "two");  // and runs a.yaml first
  stage.session().reset();
  CHECK(stage.trusts("b.yaml"));
}

TEST_CASE("a file that became known while a session lived is held to what it was then") {
  const Stage stage;
  {
    const auto session = stage.session();
    stage.write("a.yaml", "one");
    stage.start_with("a.yaml");
    stage.write("a.yaml", "planted");
  }
  std::filesystem::permissions(stage.path("a.yaml"), std::filesystem::perms::owner_all);
  CHECK_FALSE(stage.trusts("a.yaml"));
}

TEST_CASE("what changed while a session could write there is not trusted, until a person says so") {
  const Stage stage;
  stage.write("a.yaml", "one");
  stage.start_with("a.yaml");
  {
    const auto session = stage.session();
    CHECK(stage.trusts("a.yaml"));
    stage.write("a.yaml", "planted");
    CHECK_FALSE(stage.trusts("a.yaml"));  // while it lives
  }
  const auto found = stage.look("a.yaml");
  REQUIRE(found.size() == 1);
  CHECK(found.front().run == "run-1");
  CHECK(found.front().before == "one");
  CHECK(found.front().now.text == "planted");

  // Touching it afterwards does not wash it.
  std::filesystem::permissions(stage.path("a.yaml"), std::filesystem::perms::owner_all);
  CHECK_FALSE(stage.trusts("a.yaml"));

  stage.start_with("a.yaml");
  CHECK(stage.trusts("a.yaml"));
}

TEST_CASE("a file that is as it was before the session is trusted") {
  const Stage stage;
  stage.write("a.yaml", "one");
  stage.start_with("a.yaml");
  {
    const auto session = stage.session();
    stage.write("a.yaml", "planted");
  }
  stage.write("a.yaml", "one");
  CHECK(stage.trusts("a.yaml"));
  stage.write("a.yaml", "two");
  CHECK(stage.trusts("a.yaml"));
}

TEST_CASE("a session that was killed is found by the next look") {
  const Stage stage;
  stage.write("a.yaml", "one");
  stage.start_with("a.yaml");
  stage.killed_session([&] { stage.write("a.yaml", "planted"); });

  CHECK_FALSE(stage.trusts("a.yaml"));
  CHECK(std::filesystem::is_empty(stage.trust.directory() + "/live"));
  CHECK_FALSE(stage.trusts("a.yaml"));
}

TEST_CASE("a file that was made while a session could write there is not trusted") {
  const Stage stage;
  stage.write("old.yaml", "old");  // never started
  {
    const auto session = stage.session();
    stage.write("new.yaml", "planted");
    CHECK_FALSE(stage.trusts("new.yaml"));
  }
  CHECK(stage.trusts("old.yaml"));
  const auto found = stage.look("new.yaml");
  REQUIRE(found.size() == 1);
  CHECK(found.front().was == UntrustedFile::Was::unknown);
  stage.start_with("new.yaml");
  CHECK(stage.trusts("new.yaml"));
}

TEST_CASE("a file that was replaced by a link, or lies behind a changed one, is not trusted") {
  const Stage stage;
  const std::string outside = stage.directory / "outside.yaml";
  std::ofstream(outside) << "elsewhere";
  stage.write("a.yaml", "one");
  stage.start_with("a.yaml");
  {
    const auto session = stage.session();
    std::filesystem::remove(stage.path("a.yaml"));
    std::filesystem::create_symlink(outside, stage.path("a.yaml"));
    std::filesystem::create_symlink(outside, stage.path("new.yaml"));
  }
  CHECK_FALSE(stage.trusts("a.yaml"));
  CHECK_FALSE(stage.trusts("new.yaml"));
  CHECK(stage.trust.untrusted({read_host_file(outside).value()}).value().empty());
}

TEST_CASE("a session elsewhere changes nothing here, and one of the root everything") {
  const Stage stage;
  stage.write("a.yaml", "one");
  stage.start_with("a.yaml");
  {
    const auto session = stage.session(stage.directory / "elsewhere");
    stage.write("a.yaml", "two");
    CHECK(stage.trusts("a.yaml"));
  }
  {
    const auto session = stage.session("/");
    stage.write("a.yaml", "three");
  }
  CHECK_FALSE(stage.trusts("a.yaml"));
}

TEST_CASE("what a run began with counts where nothing else is known") {
  const Stage stage;
  stage.write("s.sh", "now");
  const HostFile now = read_host_file(stage.path("s.sh")).value();
  const HostFile began = host_file(now.path, "then");

  CHECK(stage.trust.untrusted({now}, {now}).value().empty());
  const Stage other;  // another user's notes
  const auto found = other.trust.untrusted({now}, {began}).value();
  REQUIRE(found.size() == 1);
  CHECK(found.front().run.empty());
  REQUIRE(other.trust.trust({now}));
  CHECK(other.trust.untrusted({now}, {began}).value().empty());
}

TEST_CASE("a person sees what is known of a file") {
  const Stage stage;
  stage.write("a.yaml", "one");
  stage.start_with("a.yaml");
  stage.write("a.yaml", "two");
  const auto seen = stage.trust.look_at(stage.path("a.yaml"));
  REQUIRE(seen);
  CHECK(seen->before == "one");
  CHECK(seen->now.text == "two");
  CHECK_FALSE(stage.trust.look_at(stage.path("none")));
  REQUIRE(stage.trust.list().value().size() == 1);
  CHECK(stage.trust.list().value().front().path == stage.path("a.yaml"));
}

TEST_CASE("without a place for notes nothing is noted and everything trusted") {
  const NotedTrust none("");
  const HostFile file = host_file("/w/a", "x");
  CHECK(none.untrusted({file}).value().empty());
  CHECK(none.trust({file}));
  CHECK(none.begin_session(RunId{"r"}, {"/w"}).value() == nullptr);
}

}  // namespace pawl
