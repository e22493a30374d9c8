// The escape corpus (docs/notes/cases/B.md and C.md): each attempt is made inside a sandbox, with
// only the operating system in its way. docs/sandbox.md says what each level promises.

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pawl/adapter/backend/session/attempts_test_support.h"
#include "pawl/adapter/backend/session/escape_attempts_test.h"

namespace pawl::backend {
namespace {

using contract::holds;
using contract::read_file;
using contract::write_file;
using Kind = BackendOutcome::Kind;

// What a careless host has lying around: servers on every kind of socket, and a secret.
class CarelessHost {
 public:
  explicit CarelessHost(const std::string& workspace) : unix_path_(workspace + "/server.sock") {
    put_secret(outside);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (auto [fd, type, port] :
         {std::tuple{&tcp_, SOCK_STREAM, &tcp_port_}, std::tuple{&udp_, SOCK_DGRAM, &udp_port_}}) {
      fd->reset(::socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      REQUIRE(::bind(fd->number(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
      sockaddr_in bound{};
      socklen_t bytes = sizeof bound;
      REQUIRE(::getsockname(fd->number(), reinterpret_cast<sockaddr*>(&bound), &bytes) == 0);
      *port = ntohs(bound.sin_port);
    }
    ::listen(tcp_.number(), 1);
    named_ = bind_unix(SOCK_STREAM, unix_path_, UnixName::path);
    abstract_ = bind_unix(SOCK_STREAM, abstract_name_, UnixName::abstract);
    for (const Descriptor* fd : {&named_, &abstract_}) REQUIRE(::listen(fd->number(), 1) == 0);
  }

  Words arguments() const {
    return {std::to_string(::getpid()),
            std::to_string(tcp_port_),
            std::to_string(udp_port_),
            abstract_name_,
            outside.path(),
            unix_path_};
  }
  bool was_reached() const {
    char byte = 0;
    return Descriptor(::accept4(tcp_.number(), nullptr, nullptr, SOCK_CLOEXEC)) ||
           Descriptor(::accept4(named_.number(), nullptr, nullptr, SOCK_CLOEXEC)) ||
           Descriptor(::accept4(abstract_.number(), nullptr, nullptr, SOCK_CLOEXEC)) ||
           ::recv(udp_.number(), &byte, 1, MSG_DONTWAIT) > 0;
  }

  contract::ContractDirectory outside;

 private:
  std::string unix_path_;
  std::string abstract_name_ = "pawl-escape-" + std::to_string(::getpid());
  Descriptor tcp_, udp_, named_, abstract_;
  std::uint16_t tcp_port_ = 0;
  std::uint16_t udp_port_ = 0;
};

// Becomes itself again, from a copy in memory, with the arguments behind it.
constexpr const char* kFromMemory =
    "import os, sys\nf = os.memfd_create('x')\n"
    "os.write(f, open(os.path.realpath(sys.executable), 'rb').read())\n"
    "os.execve(f, [sys.executable] + sys.argv[1:], os.environ)\n";

void check_attempts(MakeBackend make, const Words& interpreter = {"python3"}) {
  if (!is_there(make)) return;
  Bench bench(make);
  adapt_to(make, bench);
  const CarelessHost host(bench.directory.path());
  Results results = run_attempts(bench, kEscapeAttempts, host.arguments(), interpreter);
  CHECK(results.size() >= 73);
  CHECK(results["core"] == "0");
  const bool namespaces = bench.session().level() == IsolationLevel::namespaces;
  if (namespaces) CHECK(results["uid"] == "1000");
  // What a tool is meant to be able to do, and in a network of its own what reaches nobody.
  std::set<std::string> meant = {"write inside", "pair"};
  if (namespaces || is_container(make)) meant.insert("udp host");
  check_refused(results, meant);
  CHECK_FALSE(host.was_reached());
  check_left_alone(host.outside);
}

TEST_CASE("none of the attempts to escape works behind namespaces") {
  check_attempts(&make_namespace_backend);
}

TEST_CASE("none of the attempts to escape works behind Landlock alone") {
  check_attempts(&make_landlock_backend);
}

TEST_CASE("none of the attempts to escape works in a container") {
  check_attempts(&make_container_backend);
}

TEST_CASE("a program from memory is as confined as any (B15)") {
  for (const MakeBackend make : {&make_namespace_backend, &make_landlock_backend}) {
    if (!is_there(make)) continue;
    Bench bench(make);
    const contract::ContractDirectory outside;
    const BackendOutcome outcome = bench.exec(
        {"python3", "-c",
         "import os\nf = os.memfd_create('x', 0)\nos.write(f, open('/bin/touch', 'rb').read())\n"
         "os.execve(f, ['touch', '" +
             (outside / "made") + "'], {})\n"});
    CHECK(outcome.kind == Kind::failed);
    CHECK_FALSE(std::filesystem::exists(outside / "made"));
  }
}

TEST_CASE("none of the attempts to escape works from a program in memory (B15)") {
  check_attempts(&make_namespace_backend, {"python3", "-c", kFromMemory});
  check_attempts(&make_landlock_backend, {"python3", "-c", kFromMemory});
}

TEST_CASE("protected names that exist are held by the kernel (F12, F13, B16)") {
  if (!is_there(&make_namespace_backend)) return;
  Bench bench(&make_namespace_backend);
  const std::string root = bench.directory.path();
  std::filesystem::create_directories(root + "/.git/hooks");
  std::filesystem::create_directories(root + "/.pawl");
  std::filesystem::create_directories(root + "/.vscode");
  write_file(root + "/.git/config", "[core]\n");
  for (const char* name : {"/.mcp.json", "/.envrc", "/.bashrc"}) write_file(root + name, "kept\n");
  for (const char* attack :
       {"echo x >.git/hooks/post-commit", "echo x >>.git/config", "mkdir -p .pawl/x",
        "echo x >.pawl/settings.json", "echo x >.mcp.json", "echo x >.envrc", "mkdir .vscode/x",
        "mv .git .git2", "mv .git/hooks .git/h", "rm -rf .git/hooks", "rmdir .pawl", "mv .pawl .p",
        "rm -f .mcp.json .envrc", "echo x >>.bashrc", "mkdir d && mv -T d .pawl",
        "python3 -c \"import os; os.rename('.mcp.json', 'm')\"", "umount .git/hooks",
        "mount -o remount,rw .git/hooks"}) {
    CAPTURE(attack);
    CHECK(bench.bash(attack).exit_code != 0);
  }
  CHECK(bench.bash("git --version >/dev/null; echo y >normal").kind == Kind::ok);
  bench.end();
  CHECK(read_file(root + "/.git/config") == "[core]\n");
  CHECK(std::filesystem::is_empty(root + "/.git/hooks"));
  for (const char* name : {"/.mcp.json", "/.envrc", "/.bashrc"}) {
    CHECK(read_file(root + name) == "kept\n");
  }
}

TEST_CASE("a protected name that is a link is refused: what it leads to cannot be held") {
  if (!is_there(&make_namespace_backend)) return;
  Bench bench(&make_namespace_backend);
  std::filesystem::create_symlink("/etc", bench.directory / ".pawl");
  const auto opened = bench.open();
  REQUIRE_FALSE(opened);
  CHECK(holds(opened.error().message, "symbolic link"));
}

TEST_CASE("root's own files are no place for Landlock alone (B01)") {
  if (::geteuid() != 0 || !is_there(&make_landlock_backend)) return;
  Bench bench(&make_landlock_backend);
  REQUIRE(::chown(bench.directory.path().c_str(), 0, 0) == 0);
  const auto opened = bench.open();
  REQUIRE_FALSE(opened);
  CHECK(holds(opened.error().message, "chown"));
}

TEST_CASE("what the host writes for a tool belongs to whom the tool runs as") {
  for (const MakeBackend make : {&make_namespace_backend, &make_landlock_backend}) {
    if (!is_there(make)) continue;
    Bench bench(make);
    give_away(bench.directory.path());
    const BackendOutcome made = bench.finish(
        [&](auto done) { return bench.session().create_file({"f", "one\n"}, std::move(done)); });
    CHECK(made.kind == Kind::ok);
    CHECK(bench.bash("echo two >>f; cat f").output == "one\ntwo\n");
    CHECK(bench.bash("id -u").output != "0\n");
  }
}

TEST_CASE("sessions do not share /tmp, shared memory or process numbers (B18)") {
  if (!is_there(&make_namespace_backend)) return;
  Bench one(&make_namespace_backend);
  Bench other(&make_namespace_backend);
  CHECK(one.bash("touch /tmp/of-one /dev/shm/of-one; mkfifo /tmp/f; sleep 1000 &").kind ==
        Kind::ok);
  CHECK(one.exec({"ls", "/tmp/of-one"}).kind == Kind::ok);  // a session's calls share it
  CHECK(other.bash("ls -A /dev/shm").output.empty());
  CHECK_FALSE(holds(other.bash("ls -A /tmp").output, "of-one"));
  CHECK_FALSE(holds(other.bash("cat /proc/[0-9]*/cmdline").output, "1000"));
}

TEST_CASE("a workspace beneath /var/tmp is at its place, and the rest of it is the session's own") {
  if (!is_there(&make_namespace_backend)) return;
  std::string place = "/var/tmp/pawl-test-XXXXXX";
  REQUIRE(::mkdtemp(place.data()) != nullptr);
  Bench bench(&make_namespace_backend);
  bench.context.working_directory = place;
  bench.context.write_roots = {place};
  CHECK(bench.bash("touch here /var/tmp/own && pwd -P && ls /tmp/own").output ==
        place + "\n/tmp/own\n");
  bench.end();
  CHECK(std::filesystem::exists(place + "/here"));
  CHECK_FALSE(std::filesystem::exists("/var/tmp/own"));
  std::filesystem::remove_all(place);
}

TEST_CASE("nothing waits for a person: no terminal, and input that ends (C10)") {
  for (const MakeBackend make : {&make_namespace_backend, &make_landlock_backend}) {
    if (!is_there(make)) continue;
    Bench bench(make);
    CHECK(bench.bash("read x").exit_code == 1);
    CHECK(bench.bash("tty; exec 3<>/dev/tty").exit_code != 0);
  }
}

}  // namespace
}  // namespace pawl::backend
