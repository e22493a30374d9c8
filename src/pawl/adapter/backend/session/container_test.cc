#include "pawl/adapter/backend/session/container.h"

#include <sys/mount.h>
#include <sys/stat.h>

#include <cstdlib>

#include "pawl/adapter/backend/session/backend_test_support.h"
#include "tests/contract/backend_contract_support.h"

namespace pawl::backend {
namespace {

using contract::holds;
using contract::read_file;
using contract::write_file;
using Kind = BackendOutcome::Kind;

class Path {
 public:
  explicit Path(const std::string& path) : before_(std::getenv("PATH")) {
    ::setenv("PATH", path.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;
  ~Path() { ::setenv("PATH", before_.c_str(), 1); }  // NOLINT(concurrency-mt-unsafe)
  const std::string& before() const { return before_; }

 private:
  std::string before_;
};

TEST_CASE("an engine that is there keeps what a container promises") {
  for (const MakeBackend make : {&make_runc_backend, &make_podman_backend}) {
    if (!is_there(make)) continue;
    Bench bench(make);
    CAPTURE(bench.backend().name());
    give_away(bench.directory.path());
    std::filesystem::create_directories(bench.directory / "a/reference");
    bench.context.read_roots = {bench.directory / "a/reference"};
    bench.context.environment = {{"GIVEN", "it's"}};
    CHECK(bench.exec({"sh", "-c", "cat; echo $GIVEN; id -u; pwd"}, "input\n").output ==
          "input\nit's\n61998\n" + bench.directory.path() + "\n");
    CHECK(bench.session().level() == IsolationLevel::container);
    CHECK(bench.bash("x=5; echo made >made").kind == Kind::ok);
    CHECK(bench.bash("echo $x").output == "5\n");
    CHECK(bench.exec({"sh", "-c", "exit 4"}).exit_code == 4);
    for (const char* attack :
         {"echo x >.pawl/x", "echo x >/usr/x", "echo x >a/reference/x", "cat /etc/shadow",
          "exec 3<>/dev/tcp/127.0.0.1/22", "mount -t tmpfs x /tmp", "unshare -U true",
          "mkdir p; mount -t proc p p", "kill -0 2", "mv a b", "cp /bin/true s; chmod 4755 s",
          "cp /bin/true s; chmod g+s s",
          "python3 -c 'import ctypes; exit(ctypes.CDLL(None).syscall(452, -100, b\"s\", 0o6755, "
          "0))'",
          "python3 -c 'import socket; socket.socket(socket.AF_UNIX)'",
          "python3 -c 'import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)'"}) {
      CAPTURE(attack);
      CHECK(bench.bash(attack).exit_code != 0);
    }
    CHECK(bench.bash("sleep 600 & sleep 600", 1500).kind == Kind::timed_out);
    bench.end();
    CHECK(read_file(bench.directory / "made") == "made\n");
  }
}

TEST_CASE("a program that is masked is not executed, by its name, by its path or as a copy") {
  for (const MakeBackend make :
       {&make_runc_backend, &make_podman_backend, &make_namespace_backend}) {
    if (!is_there(make)) continue;
    Bench bench(make);
    CAPTURE(bench.backend().name());
    give_away(bench.directory.path());
    bench.context.masked_programs = {std::filesystem::canonical("/usr/bin/tac").string()};
    for (const char* attempt :
         {"echo a | tac", "echo a | /bin/tac", "echo a | /usr/bin/tac",
          "cp /usr/bin/tac t && chmod +x t && echo a | ./t", "ln -s /usr/bin/tac l; echo a | ./l",
          "echo a | env tac", "p=ta; echo a | ${p}c",
          "python3 -c 'import os; os.execv(\"/usr/bin/ta\" + \"c\", [\"tac\"])' </dev/null",
          "echo a | /lib64/ld-linux-x86-64.so.2 /usr/bin/tac"}) {
      CAPTURE(std::string(attempt));
      const BackendOutcome outcome = bench.bash(attempt);
      CHECK(outcome.output.find("a\n") != 0);
    }
    CHECK(bench.bash("echo a | cat").output == "a\n");
    bench.end();
  }
}

// A file system in memory on a directory, where that is allowed.
class MountedHere {
 public:
  explicit MountedHere(std::string path)
      : path_(std::move(path)), there_(::mount("x", path_.c_str(), "tmpfs", 0, "mode=0777") == 0) {}
  MountedHere(const MountedHere&) = delete;
  MountedHere& operator=(const MountedHere&) = delete;
  ~MountedHere() {
    if (there_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  bool is_there() const { return there_; }

 private:
  std::string path_;
  bool there_;
};

TEST_CASE("none of the attempts to write a mount within a read root works") {
  for (const MakeBackend make :
       {&make_runc_backend, &make_podman_backend, &make_namespace_backend}) {
    if (!is_there(make)) continue;
    Bench bench(make);
    CAPTURE(bench.backend().name());
    const TempDirectory reference;
    std::filesystem::create_directories(reference / "in it");
    const MountedHere inner(reference / "in it");
    if (!inner.is_there()) return;
    std::filesystem::create_directories(reference / "in it/deeper");
    const MountedHere deeper(reference / "in it/deeper");
    give_away(bench.directory.path());
    REQUIRE(::chmod(reference.path().c_str(), 0777) == 0);
    bench.context.read_roots = {reference.path()};
    for (const char* place : {"", "/in it", "/in it/deeper"}) {
      CAPTURE(place);
      CHECK(bench.exec({"touch", reference.path() + place + "/x"}).kind == Kind::failed);
      CHECK(bench.exec({"ls", reference.path() + place}).kind == Kind::ok);
    }
    bench.end();
    CHECK(std::filesystem::is_empty(reference / "in it/deeper"));
  }
}

// Stands in for docker: notes down what it is asked, and runs commands where it is.
constexpr const char* kFakeDocker = R"sh(#!/bin/sh
here=$(dirname "$0")
for word in "$@"; do printf '%s\n' "$word" >>"$here/asked"; done
case $1 in
  version) exit 0 ;;
  image) [ -e "$here/image" ] ;;
  import) cat >/dev/null; touch "$here/image" ;;
  ps) cat "$here/left" 2>/dev/null ;;
  run)
    cp "$(grep /environment "$here/asked" | tail -n 1)" "$here/variables"
    while [ "$1" != pawl-empty:1 ]; do shift; done
    shift
    exec "$@" ;;
esac
)sh";

TEST_CASE("docker is asked for no more than a container may have, and to remove it") {
  const TempDirectory place;
  write_file(place / "docker", kFakeDocker);
  REQUIRE(::chmod((place / "docker").c_str(), 0755) == 0);
  write_file(place / "left", "pawl-1-2-3\nsomebody-else\n");
  const Path path(place.path() + ":" + std::getenv("PATH"));
  Bench bench(&make_docker_backend);
  CHECK(bench.backend().probe());
  bench.context.environment = {{"TOKEN", "canary"}};
  CHECK(bench.exec({"echo", "hello"}).output == "hello\n");
  bench.end();
  const std::string asked = read_file(place / "asked");
  for (const char* word :
       {"\nrun\n", "\n--rm\n", "--network\nnone\n", "--cap-drop\nALL\n", "no-new-privileges\n",
        "--security-opt\nseccomp=", "--pids-limit\n128\n", "--memory\n536870912\n",
        "--memory-swap\n536870912\n", "core=0:0\n", "--read-only\n", "--pull\nnever\n",
        ",target=/usr,readonly\n", "import\n", "rm\n--force\n--volumes\npawl-"}) {
    CAPTURE(word);
    CHECK(holds(asked, word));
  }
  CHECK_FALSE(holds(asked, "canary"));  // command lines can be seen by everybody
  CHECK_FALSE(holds(asked, "--privileged"));
  CHECK_FALSE(holds(asked, "rm\n--force\n--volumes\nsomebody-else"));
  CHECK(holds(read_file(place / "variables"), "TOKEN=canary\n"));

  Bench odd(&make_docker_backend);
  odd.context.environment = {{"LINES", "one\ntwo"}};
  const BackendOutcome refused = odd.exec({"true"});
  CHECK(refused.kind == Kind::failed);
  CHECK(holds(refused.output, "LINES"));
}

TEST_CASE("without any engine the reason for each is given, and the remedy") {
  const TempDirectory place;
  write_file(place / "docker", "#!/bin/sh\nexit 1\n");
  REQUIRE(::chmod((place / "docker").c_str(), 0755) == 0);
  const Path path(place.path() + ":" + std::getenv("PATH"));
  const auto found = find_engine(ContainerEngine::docker);
  REQUIRE_FALSE(found);
  CHECK(holds(found.error().message, "docker's daemon does not answer"));
  CHECK(holds(found.error().message, "`namespace`"));
}

}  // namespace
}  // namespace pawl::backend
