// What a tool can leave for its host, and what a host can let slip to its tools: names, locks,
// files that are none, variables, programs with other rights. And ways to more memory than is
// given.

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "pawl/adapter/backend/session/backend_test_support.h"
#include "tests/contract/backend_contract_support.h"

namespace pawl::backend {
namespace {

using contract::holds;
using contract::read_file;
using contract::write_file;
using Kind = BackendOutcome::Kind;

constexpr MakeBackend kConfined[] = {&make_namespace_backend, &make_landlock_backend,
                                     &make_container_backend};

// On every level that this machine has.
void on_each(const std::function<void(Bench&)>& check) {
  for (const MakeBackend make : kConfined) {
    if (!is_there(make)) continue;
    Bench bench(make);
    if (make == &make_container_backend) give_away(bench.directory.path());
    CAPTURE(bench.backend().name());
    check(bench);
  }
}

BackendOutcome view(Bench& bench, const std::string& path) {
  return bench.finish(
      [&](auto done) { return bench.session().view(path, std::nullopt, std::move(done)); });
}

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST_CASE("none of the attempts by the host's variables reaches a shell or a program (B14)") {
  const contract::ContractDirectory place;
  write_file(place / "rc", "echo rc-was-read\n");
  const std::string rc = place / "rc";
  const Variable key("OPENAI_API_KEY", "canary-key");
  const Variable bash("BASH_ENV", rc.c_str());
  const Variable posix("ENV", rc.c_str());
  const Variable prompt("PROMPT_COMMAND", "echo prompt-was-run");
  const Variable function("BASH_FUNC_ls%%", "() { echo function-was-run; }");
  const Variable separator("IFS", "a");
  const Variable options("SHELLOPTS", "xtrace");
  const Variable python("PYTHONSTARTUP", rc.c_str());
  const Variable git("GIT_SSH_COMMAND", "echo");
  const Variable proxy("HTTPS_PROXY", "http://canary-proxy:1");
  on_each([&](Bench& bench) {
    std::string seen = bench.bash("env; set; ls; echo [$IFS]").output;
    seen += bench.exec({"env"}).output;
    seen += bench.exec({"bash", "-c", "env; ls"}).output;
    CAPTURE(seen);
    for (const char* word : {"canary", "was-read", "was-run", "OPENAI", "BASH_ENV", "PYTHONSTARTUP",
                             "GIT_SSH", "xtrace", "_PROXY", "PROMPT_COMMAND="}) {
      CAPTURE(word);
      CHECK_FALSE(holds(seen, word));
    }
  });
}

TEST_CASE("none of the attempts to have the next shell read what a tool has written works") {
  on_each([](Bench& bench) {
    const char* plant =
        "for f in .bashrc .bash_profile .bash_login .profile .bash_logout .inputrc; do "
        "echo 'echo planted' >\"$HOME/$f\"; echo 'echo planted' >$f; done; "
        "printf '#!/bin/sh\\necho planted\\n' >ls; chmod +x ls; "
        "export BASH_ENV=$PWD/.bashrc ENV=$PWD/.bashrc LD_PRELOAD=$PWD/evil.so PATH=$PWD:$PATH";
    bench.bash(plant);
    bench.bash("exit 0");  // and with it its shell
    CHECK_FALSE(holds(bench.bash("ls; true").output, "planted"));
    bench.bash(plant);
    const BackendOutcome program = bench.exec({"bash", "-c", "ls; env"});
    CHECK_FALSE(holds(program.output, "echo planted"));
    CHECK_FALSE(holds(program.output, "LD_PRELOAD"));
    CHECK_FALSE(holds(program.output, "ld.so"));
  });
}

TEST_CASE("none of the attempts to gain rights by a program that has them works (setuid)") {
  on_each([](Bench& bench) {
    const std::string own = bench.exec({"id", "-u"}).output;
    CHECK(bench.exec({"id", "-ru"}).output == own);
    // A program of somebody else with the bit: mount and su have it on every Debian.
    const BackendOutcome gained = bench.bash(
        "for p in /usr/bin/su /usr/bin/mount /usr/bin/passwd /usr/bin/newuidmap; do "
        "[ -u $p ] && echo found; done; su -c id </dev/null; "
        "python3 -c 'import ctypes; print(\"privileges\", ctypes.CDLL(None).prctl(39, 0, 0, 0, "
        "0))'");
    CAPTURE(gained.output);
    CHECK_FALSE(holds(gained.output, "uid=0"));
    CHECK(holds(gained.output, "privileges 1"));  // no_new_privs
  });
}

// A lease makes whoever opens the file wait until it is given back, 45 s by default.
TEST_CASE("none of the attempts to make the host wait for a file works: leases, locks, pipes") {
  on_each([](Bench& bench) {
    const char* hold =
        "echo one >f; echo two >g; echo three >h; mkfifo p\n"
        "python3 -c \"\n"
        "import fcntl, time\n"
        "f = open('f', 'r+'); fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_WRLCK)\n"
        "g = open('g', 'r+'); fcntl.flock(g, fcntl.LOCK_EX)\n"
        "h = open('h', 'r+'); fcntl.lockf(h, fcntl.LOCK_EX)\n"
        "open('held', 'w').close()\n"
        "time.sleep(60)\" &\n"
        "while [ ! -e held ]; do sleep 0.05; done";
    REQUIRE(bench.bash(hold).kind == Kind::ok);
    const auto begun = std::chrono::steady_clock::now();
    view(bench, "f");
    CHECK(holds(view(bench, "g").output, "two"));
    CHECK(holds(view(bench, "h").output, "three"));
    CHECK(view(bench, "p").kind == Kind::failed);
    for (const char* path : {"f", "g", "p"}) {
      bench.finish([&](auto done) {
        return bench.session().str_replace({path, "o", "0"}, std::move(done));
      });
      bench.finish([&](auto done) {
        return bench.session().create_file({path, "x", FileWrite::Overwrite::yes}, std::move(done));
      });
    }
    bench.finish(
        [&](auto done) { return bench.session().file_request(GrepQuery{"o"}, std::move(done)); });
    CHECK(bench.bash("echo more >>i").kind == Kind::ok);  // which looks at all files around it
    CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(20) * time_scale());
  });
}

TEST_CASE("none of the attempts with a name of a file reaches a terminal or a reader (F20)") {
  on_each([](Bench& bench) {
    const BackendOutcome made = bench.exec(
        {"python3", "-c",
         "for name in ('line\\nbreak', '\\x1b[2Jclear', 'bell\\x07', '\\u202eabc', '\\r back'):\n"
         "    open(name, 'w').write('x')\nopen(b'\\xff\\xfe', 'w').write('x')"});
    REQUIRE(made.kind == Kind::ok);
    CHECK(made.files.size() == 6);
    std::string shown = view(bench, ".").output;
    for (const FileRef& file : made.files) shown += file.path;
    for (const char* raw : {"\x1b", "\x07", "\r", "\xe2\x80\xae", "\xff"}) {
      CHECK_FALSE(holds(shown, raw));
    }
    CHECK(holds(shown, "line\\nbreak"));
  });
}

// What the host's programs believe is in places that a tool cannot write.
TEST_CASE("none of the attempts to have the host's git run something works (B16)") {
  if (!is_there(&make_namespace_backend)) return;
  Bench bench(&make_namespace_backend);
  const std::string root = bench.directory.path();
  const auto host = [&](const std::string& words) {
    const std::string git = "git -c safe.directory='*' -c user.name=n -c user.email=e -C '" + root +
                            "' " + words + " >/dev/null 2>&1";
    return std::system(git.c_str());  // NOLINT(cert-env33-c,concurrency-mt-unsafe)
  };
  if (host("init -b main") != 0) {
    std::printf("SKIPPED: no git here\n");
    return;
  }
  const contract::ContractDirectory elsewhere;  // which no tool can write
  const std::string marker = elsewhere / "ran";
  const std::string script = "#!/bin/sh\ntouch " + marker + "\n";
  bench.exec({"sh", "-c",
              "cat >evil; chmod +x evil\n"
              "for h in pre-commit post-commit post-checkout; do cp evil .git/hooks/$h; done\n"
              "git config core.hooksPath $PWD; git config core.fsmonitor $PWD/evil\n"
              "printf '[core]\\n\\tfsmonitor = %s/evil\\n' $PWD >>.git/config\n"
              "cp evil pre-commit; cp evil post-commit; mkdir hooks; cp evil hooks/pre-commit\n"
              "printf '* filter=evil diff=evil\\n' >.gitattributes\n"
              "printf '[filter \"evil\"]\\n\\tclean = %s/evil\\n' $PWD >.gitconfig\n"
              "cp .gitconfig $HOME/.gitconfig; echo x >file; true"},
             script);
  bench.end();
  host("status");
  CHECK(host("add -A") == 0);
  CHECK(host("commit -m x") == 0);
  CHECK(host("diff HEAD~0") == 0);
  CHECK_FALSE(std::filesystem::exists(marker));
}

TEST_CASE("none of the attempts to take the file tools elsewhere by the shell works (F15)") {
  on_each([](Bench& bench) {
    bench.bash("mkdir sub; cd /; export PWD=/; exec 2>&1");
    CHECK(view(bench, "etc/hostname").kind == Kind::failed);
    CHECK(view(bench, "/etc/passwd").kind == Kind::failed);
    const BackendOutcome made = bench.finish(
        [&](auto done) { return bench.session().create_file({"here", "x"}, std::move(done)); });
    CHECK(made.kind == Kind::ok);
    CHECK(read_file(bench.directory / "here") == "x");
  });
}

TEST_CASE("none of the attempts with a file of a terabyte takes a disk, or the host's time") {
  on_each([](Bench& bench) {
    CHECK(bench.bash("truncate -s 1T big").kind != Kind::ok);
    struct stat there{};
    const std::string big = bench.directory / "big";
    if (::stat(big.c_str(), &there) == 0) CHECK(there.st_size <= 1 << 30);
    // The host's own: looked at, never read as a whole.
    write_file(big, "x");
    if (::truncate(big.c_str(), off_t{1} << 40) != 0) return;  // a file system without holes
    CHECK(bench.bash("true").kind == Kind::ok);
    CHECK(view(bench, "big").kind == Kind::failed);
    CHECK(bench.bash("printf y | dd of=big bs=1 conv=notrunc 2>&1").kind == Kind::ok);
  });
}

TEST_CASE("none of the attempts to write a protected file under another name works (F12)") {
  for (const MakeBackend make : {&make_namespace_backend, &make_container_backend}) {
    if (!is_there(make)) continue;
    Bench bench(make);
    if (make == &make_container_backend) give_away(bench.directory.path());
    const std::string root = bench.directory.path();
    std::filesystem::create_directories(root + "/.git/hooks");
    write_file(root + "/.git/config", "[core]\n");
    write_file(root + "/.envrc", "use nix\n");
    for (const char* path : {"/.git/config", "/.envrc", "/.git/hooks", "/.git"}) {
      give_away(root + path);
    }
    for (const char* attack :
         {"ln .git/config c", "ln .envrc e", "ln -L .git/config c", "cp -l .envrc e",
          "exec 3<.envrc; python3 -c \"import ctypes, os; l = ctypes.CDLL(None, use_errno=True); "
          "exit(l.linkat(3, b'', -100, b'e', 0x1000) != 0)\"",
          "ln .git/config .git/c", "mv -T .git/config .git/c", "mkdir x; mv -T x .git/hooks",
          "python3 -c \"import ctypes; l = ctypes.CDLL(None, use_errno=True); open('e', 'w'); "
          "exit(l.renameat2(-100, b'e', -100, b'.envrc', 2) != 0)\"",
          ": >>.envrc", "truncate -s 0 .git/config", "chmod 777 .envrc", "touch -d @1 .git/config",
          "echo x | tee .git/./hooks/../config", "cd .git && echo x >config"}) {
      CAPTURE(attack);
      CHECK(bench.bash("(" + std::string(attack) + ")").exit_code != 0);
    }
    bench.end();
    CHECK(read_file(root + "/.git/config") == "[core]\n");
    CHECK(read_file(root + "/.envrc") == "use nix\n");
  }
}

// Pages that no limit of a process counts: shared, in files of memory, in the kernel's buffers.
TEST_CASE("none of the attempts to get memory by another way gets 2 GB (C07)") {
  const std::pair<const char*, const char*> hogs[] = {
      {"shared", "m = mmap.mmap(-1, 2 << 30)\nfor i in range(0, 2 << 30, 4096): m[i] = 1"},
      {"memfd", "f = os.memfd_create('x')\nfor i in range(2048): os.write(f, b'x' * (1 << 20))"},
      {"tmp",
       "f = open(os.environ['HOME'] + '/x', 'wb')\n"
       "for i in range(2048): f.write(b'x' * (1 << 20))"},
      {"children",
       "for i in range(8):\n  if os.fork() == 0:\n    x = b'x' * (256 << 20)\n"
       "    time.sleep(20)\nos.wait()\nsys.exit(1)"}};
  on_each([&](Bench& bench) {
    bench.context.limits.memory_bytes = 256U << 20U;
    bench.context.limits.disk_bytes = 256U << 20U;
    for (const auto& [name, hog] : hogs) {
      CAPTURE(name);
      const BackendOutcome outcome =
          bench.exec({"python3", "-c", "import mmap, os, sys, time\n" + std::string(hog)});
      CAPTURE(outcome.output);
      CHECK(outcome.kind != Kind::ok);
      CHECK(outcome.kind != Kind::timed_out);
      CHECK(bench.exec({"echo", "alive"}).output == "alive\n");
    }
  });
}

#if defined(__has_feature)  // clang's way to say it
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PAWL_SANITIZED
#endif
#endif
#if defined(PAWL_SANITIZED) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kGrowthMaxKib = 1U << 20U;  // they keep what was freed
#else
constexpr std::uint64_t kGrowthMaxKib = 32U << 10U;
#endif

std::uint64_t peak_kib() {
  struct rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<std::uint64_t>(used.ru_maxrss);
}

// PAWL_TEST_FLOOD_BYTES for a longer one: 1073741824 is the figure of H5.
TEST_CASE("none of the attempts to flood the host with output takes its memory (C08, H5)") {
  const char* asked = std::getenv("PAWL_TEST_FLOOD_BYTES");  // NOLINT(concurrency-mt-unsafe)
  const std::string bytes = asked != nullptr ? asked : "67108864";
  on_each([&](Bench& bench) {
    const std::uint64_t before = peak_kib();
    const BackendOutcome endless = bench.bash("yes", 1'000);
    CHECK(endless.kind == Kind::timed_out);
    CHECK(endless.output.size() <= bench.context.limits.output_bytes);
    const BackendOutcome flood = bench.bash("yes | head -c " + bytes);
    CHECK(flood.kind == Kind::ok);
    CHECK(std::to_string(flood.output_length) == bytes);
    CHECK(holds(flood.output, "bytes cut"));
    CHECK(peak_kib() - before < kGrowthMaxKib);
  });
}

TEST_CASE("none of the attempts of a shell to stay away from its host works (C03)") {
  on_each([](Bench& bench) {
    const std::string word = "987" + std::to_string(::getpid());
    for (const std::string& stubborn :
         {std::string("kill -STOP $$; sleep " + word), "trap '' TERM INT HUP; sleep " + word,
          "f() { sleep " + word + " & (sleep 0.1; f) & }; f; sleep " + word,
          "(setsid sh -c 'trap \"\" TERM; kill -STOP $$; sleep " + word + "' &) ; sleep " + word}) {
      CAPTURE(stubborn);
      const BackendOutcome outcome = bench.bash(stubborn, 1'000);
      CHECK((outcome.kind == Kind::timed_out || outcome.kind == Kind::processes));
      CHECK_FALSE(contract::runs(word));
    }
    CHECK(holds(bench.bash("echo alive").output, "alive"));
  });
}

}  // namespace
}  // namespace pawl::backend
