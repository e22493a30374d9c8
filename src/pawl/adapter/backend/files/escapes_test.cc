// Paths, links, names and races that try to leave the roots: group F of the cases.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <thread>

#include "pawl/adapter/backend/files/files_test_support.h"
#include "pawl/base/shared_data_test.h"

namespace pawl::backend {
namespace {

namespace fs = std::filesystem;

// Neither read nor written through, and nothing outside is touched.
void check_refused(const Workspace& work, RootedFiles& files, const std::string& path) {
  const BackendOutcome seen = files.view(path, {}, kTestOutputBytes);
  const BackendOutcome made = files.create_file({path, "escaped", FileWrite::Overwrite::yes});
  const BackendOutcome edited = files.str_replace({path, "outside", "escaped"});
  CHECK_MESSAGE(!succeeded(seen), path);
  CHECK_MESSAGE(!succeeded(made), path);
  CHECK_MESSAGE(!succeeded(edited), path);
  CHECK(Workspace::get(work.outside("secret")) == "outside\n");
}

TEST_CASE("traversal, absolute paths, siblings by prefix and URLs are refused") {
  const Workspace work;
  const auto files = work.open();
  fs::create_directory(work.root("a"));
  Workspace::put(work.root("").substr(0, work.root("").size() - 1) + "-evil/x", "outside\n");
  const std::string evil = work.root("").substr(0, work.root("").size() - 1) + "-evil/x";

  for (const std::string& path :
       {std::string("../outside/secret"), std::string("a/../../outside/secret"),
        std::string("..%2foutside%2fsecret"), std::string("./././../outside/secret"),
        std::string("/etc/passwd"), std::string("//etc/passwd"), std::string("file:///etc/passwd"),
        std::string("file:/etc/passwd"), work.outside("secret"), evil, std::string("~/.ssh/x"),
        std::string("/proc/self/root/etc/hostname"), std::string("/dev/fd/3"),
        std::string("/proc/self/cwd/.."), std::string("..")}) {
    check_refused(work, *files, path);
  }
  CHECK(work.names() == std::vector<std::string>{"a"});
  const BackendOutcome outcome = files->view("/etc/passwd", {}, kTestOutputBytes);
  CHECK(has(outcome.output, work.reference("").substr(0, work.reference("").size() - 1)));
}

TEST_CASE("links out of the root are refused, also dangling and magic ones") {
  const Workspace work;
  const auto files = work.open();
  fs::create_directory_symlink(work.outside(""), work.root("l"));
  fs::create_symlink(work.outside("secret"), work.root("file"));
  fs::create_symlink(work.outside("new"), work.root("dangling"));
  fs::create_symlink("../outside/secret", work.root("relative"));
  fs::create_symlink("/proc/self/root", work.root("magic"));

  for (const char* path :
       {"l/secret", "l/x", "file", "dangling", "relative", "magic/etc/hostname"}) {
    check_refused(work, *files, path);
  }
  CHECK_FALSE(fs::exists(work.outside("new")));
  CHECK_FALSE(fs::exists(work.outside("x")));
}

TEST_CASE("a link that stays inside is read through, but not written through") {
  const Workspace work;
  const auto files = work.open();
  Workspace::put(work.root("real/f"), "text\n");
  fs::create_directory_symlink("real", work.root("l"));
  fs::create_directory_symlink(".git", work.root("git"));
  fs::create_directory(work.root(".git"));

  CHECK(succeeded(files->view("l/f", {}, kTestOutputBytes)));
  CHECK_FALSE(succeeded(files->str_replace({"l/f", "text", "x"})));
  CHECK_FALSE(succeeded(files->create_file({"git/config", "x"})));
  CHECK_FALSE(fs::exists(work.root(".git/config")));
}

TEST_CASE("a file with a second name is not written") {
  const Workspace work;
  const auto files = work.open();
  fs::create_hard_link(work.outside("secret"), work.root("h"));

  const BackendOutcome edited = files->str_replace({"h", "outside", "x"});
  const BackendOutcome made = files->create_file({"h", "x", FileWrite::Overwrite::yes});

  CHECK(has(edited.output, "hard link"));
  CHECK(has(made.output, "hard link"));
  CHECK(Workspace::get(work.outside("secret")) == "outside\n");
}

TEST_CASE("pipes, sockets, devices and directories are refused and never waited for") {
  const Workspace work;
  const auto files = work.open();
  REQUIRE(::mkfifo(work.root("pipe").c_str(), 0600) == 0);
  fs::create_directory(work.root("directory"));
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(work.root("socket").size() < sizeof address.sun_path);
  std::strncpy(address.sun_path, work.root("socket").c_str(), sizeof address.sun_path - 1);
  REQUIRE(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  std::vector<std::string> paths{"pipe", "socket"};
  if (::mknod(work.root("zero").c_str(), S_IFCHR | 0600, makedev(1, 5)) == 0) {
    paths.emplace_back("zero");
  } else {
    MESSAGE("skipped: no device nodes here");
  }

  for (const std::string& path : paths) check_refused(work, *files, path);
  CHECK_FALSE(succeeded(files->create_file({"directory", "x", FileWrite::Overwrite::yes})));
  CHECK_FALSE(succeeded(files->str_replace({"directory", "x", "y"})));
  ::close(socket);
}

TEST_CASE("NULs, long paths and deep trees are refused without harm") {
  const Workspace work;
  const auto files = work.open();
  std::string deep = "d";
  for (int i = 0; i < 10'000; ++i) deep += "/d";
  for (const std::string& path : {std::string("ok\0/../x", 8), std::string(4097, 'a'), deep,
                                  std::string(), std::string(256, 'n')}) {
    check_refused(work, *files, path);
  }
  std::string too_many_new = "d";
  for (int i = 0; i < 100; ++i) too_many_new += "/d";
  CHECK_FALSE(succeeded(files->create_file({too_many_new, "x"})));
  CHECK(work.names().empty());  // the directories that it had made are gone again
}

TEST_CASE("a tree far deeper than a walk goes is walked as far as the bound") {
  const Workspace work;
  const auto files = work.open();
  int here = ::open(work.root("").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (int i = 0; i < 300; ++i) {
    REQUIRE(::mkdirat(here, "d", 0755) == 0);
    const int below = ::openat(here, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
    ::close(here);
    here = below;
  }
  ::close(here);

  CHECK(succeeded(files->view(".", {}, kTestOutputBytes)));
  CHECK_FALSE(files->scan().complete);
}

TEST_CASE("nothing in a path is expanded, and odd names are kept byte for byte") {
  const Workspace work;
  const auto files = work.open();
  const std::vector<std::string> names{
      "$HOME", "{a,b}",  "*.txt",       "line\nbreak",  "\x1b[31mred",        "\xff\xfe",
      "dot.",  "space ", "caf\xc3\xa9", "cafe\xcc\x81", std::string(255, 'n')};
  for (const std::string& name : names) {
    CHECK(succeeded(files->create_file({name, name})));
    CHECK(Workspace::get(work.root(name)) == name);
  }
  CHECK(work.names().size() == names.size());

  const std::string listing = files->view(".", {}, kTestOutputBytes).output;
  CHECK(has(listing, "line\\nbreak"));
  CHECK(has(listing, "\\x1b[31mred"));
  CHECK(has(listing, "\\xff\\xfe"));
  CHECK(listing.find('\x1b') == std::string::npos);
}

TEST_CASE("a mount inside a root is refused unless it is a root of its own") {
  const Workspace work;
  fs::create_directory(work.root("m"));
  bool mounted = false;
  // A mount namespace of this thread's own: it ends with the thread, and the mount with it.
  std::thread inside([&work, &mounted] {
    if (::unshare(CLONE_NEWNS) != 0) return;
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return;
    if (::mount(work.outside("").c_str(), work.root("m").c_str(), nullptr, MS_BIND, nullptr) != 0) {
      return;
    }
    mounted = true;
    const auto files = work.open();
    check_refused(work, *files, "m/secret");
    FileRoots declared = work.roots();
    declared.read_roots.push_back(work.root("m"));
    const auto told = RootedFiles::open(declared);
    CHECK(succeeded((*told)->view("m/secret", {}, kTestOutputBytes)));
  });
  inside.join();
  if (!mounted) MESSAGE("skipped: no mounts here");
}

TEST_CASE("the payloads of the corpus never leave the root") {
  const std::string corpus = shared_file(shared_data() / "suites/payloads/directory_traversal.txt");
  if (corpus.empty()) {
    MESSAGE("skipped: no directory_traversal.txt in ../shared/data");
    return;
  }
  const Workspace work;
  const auto files = work.open();
  std::istringstream lines(corpus);
  std::vector<std::string> paths;
  for (std::string path; std::getline(lines, path);) paths.push_back(path);
  REQUIRE(paths.size() > 100);
  for (const std::string& path : paths) {
    CHECK_MESSAGE(!succeeded(files->view(path, {}, kTestOutputBytes)), path);
  }
  int literal = 0;
  for (const std::string& path : paths) {
    if (succeeded(files->create_file({path, "payload"}))) ++literal;
  }
  // Those that are plain names became just those files, inside the root.
  int found = 0;
  for (const std::string& name : work.names()) {
    if (fs::is_regular_file(work.root(name))) ++found;
  }
  CHECK(found == literal);
  CHECK(Workspace::get(work.outside("secret")) == "outside\n");
  const std::string parent = fs::path(work.root("x")).parent_path().parent_path();
  std::vector<std::string> beside;
  for (const auto& entry : fs::directory_iterator(parent)) {
    beside.push_back(entry.path().filename().string());
  }
  std::sort(beside.begin(), beside.end());
  CHECK(beside == std::vector<std::string>{"outside", "reference", "root"});
}

TEST_CASE("a directory that is swapped for a link all the time never leads out") {
  const char* const asked = std::getenv("PAWL_TEST_RACE_OPENS");  // 1000000 for a long run
  const int opens = asked != nullptr ? std::atoi(asked) : 20'000;
  const Workspace work;
  const auto files = work.open();
  Workspace::put(work.root("d/secret"), "inside\n");
  fs::create_directory_symlink(work.outside(""), work.root("l"));
  std::atomic<bool> stop{false};
  std::atomic<int> swaps{0};
  std::thread swapper([&] {
    const std::string a = work.root("d");
    const std::string b = work.root("l");
    while (!stop) {
      if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) ++swaps;
    }
  });
  int inside = 0;
  int escapes = 0;
  for (int i = 0; i < opens; ++i) {
    const BackendOutcome seen = files->view("d/secret", {}, kTestOutputBytes);
    if (has(seen.output, "outside\n")) ++escapes;
    if (succeeded(seen)) ++inside;
  }
  constexpr int kWrites = 200;
  for (int i = 0; i < kWrites; ++i) {
    static_cast<void>(files->create_file({"d/made", "x", FileWrite::Overwrite::yes}));
  }
  stop = true;
  swapper.join();

  CHECK(escapes == 0);
  CHECK_FALSE(fs::exists(work.outside("made")));
  MESSAGE(swaps.load() << " swaps, " << inside << " of " << opens << " opens found the file");
}

}  // namespace
}  // namespace pawl::backend
