#include "pawl/adapter/backend/sandbox/taken_names.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/contract/backend_contract_support.h"
#include "tests/support/temp_directory.h"

namespace pawl::backend {
namespace {

using contract::holds;
using contract::read_file;
using contract::write_file;

Descriptor open_directory(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

Result<std::vector<std::string>> find_nothing(const std::vector<std::string>&,
                                              const std::vector<std::string>&) {
  return std::vector<std::string>();
}

TEST_CASE("what is taken keeps its name and content, and nothing taken before is replaced") {
  const TempDirectory data;
  const TempDirectory work;
  const TakenNames store(data / "taken", "r");
  for (const char* number : {"1", "2"}) {
    std::filesystem::create_directories(work / ".pawl");
    write_file(work / ".pawl/settings", number);
    const auto taken = store.take(open_directory(work.path()), ".pawl");
    REQUIRE(taken);
    CHECK(*taken == data / ("taken/r/" + std::string(number) + "/.pawl"));
    CHECK(read_file(*taken + "/settings") == number);
    CHECK(std::filesystem::is_empty(work.path()));
  }
}

TEST_CASE("a directory without the right to write is taken, too, and a link is not followed") {
  const TempDirectory data;
  const TempDirectory work;
  const TakenNames store(data / "taken", "r");
  std::filesystem::create_directories(work / "d/.ssh");
  ::chmod((work / "d/.ssh").c_str(), 0500);
  ::chmod((work / "d").c_str(), 0500);
  CHECK(store.take(open_directory(work / "d"), ".ssh"));
  ::chmod((work / "d").c_str(), 0700);
  write_file(work / "kept", "kept");
  std::filesystem::create_symlink("kept", work / ".envrc");
  CHECK(store.take(open_directory(work.path()), ".envrc"));
  CHECK(read_file(work / "kept") == "kept");
}

TEST_CASE("another file system is reached by a copy") {
  const TempDirectory data;
  std::string other = "/dev/shm/pawl-taken-test-XXXXXX";
  if (::mkdtemp(other.data()) == nullptr) return;
  std::filesystem::create_directories(other + "/.config/fish");
  write_file(other + "/.config/fish/config.fish", "evil");
  std::filesystem::create_symlink("/etc/passwd", other + "/.config/link");
  const auto taken = TakenNames(data / "taken", "r").take(open_directory(other), ".config");
  CHECK(std::filesystem::is_empty(other));
  std::filesystem::remove_all(other);
  REQUIRE(taken);
  CHECK(read_file(*taken + "/fish/config.fish") == "evil");
  CHECK(std::filesystem::is_symlink(*taken + "/link"));
}

TEST_CASE(
    "a note that is left behind leads to what was made, one that lives or was removed does not") {
  const TempDirectory data;
  const TempDirectory work;
  const TakenNames store(data / "taken", "r");
  write_file(work / ".envrc", "evil");
  {
    auto note =
        AbsentNote::write(store, "r", {{work / ".envrc", work / ".pawl", work / "no/.ssh"}});
    REQUIRE(note);
    CHECK(sweep_absent_notes(data / "taken", find_nothing).empty());  // its session lives
    CHECK(std::filesystem::exists(work / ".envrc"));
  }
  const auto said = sweep_absent_notes(data / "taken", find_nothing);
  REQUIRE(said.size() == 1);
  CHECK(holds(said[0], "left by a session that was killed"));
  CHECK(read_file(data / "taken/r/1/.envrc") == "evil");
  CHECK_FALSE(std::filesystem::exists(work / ".envrc"));
  CHECK(sweep_absent_notes(data / "taken", find_nothing).empty());
  write_file(work / ".envrc", "the user's");
  auto note = AbsentNote::write(store, "r", {{work / ".envrc"}});
  REQUIRE(note);
  note->remove();
  CHECK(sweep_absent_notes(data / "taken", find_nothing).empty());
  CHECK(std::filesystem::exists(work / ".envrc"));
}

TEST_CASE("names at any depth that a killed session's note does not know are taken") {
  const TempDirectory data;
  const TempDirectory work;
  const TakenNames store(data / "taken", "r");
  std::filesystem::create_directories(work / "sub/deep");
  write_file(work / "sub/.envrc", "the user's");
  write_file(work / "sub/deep/.envrc", "evil");
  const std::vector<std::string> both = {work / "sub/.envrc", work / "sub/deep/.envrc"};
  const auto write = [&] {
    REQUIRE(AbsentNote::write(store, "r", {{}, {work.path()}, {".envrc"}, {work / "sub/.envrc"}}));
  };
  write();
  const auto failed = sweep_absent_notes(data / "taken", [](const auto&, const auto&) {
    return Error{ErrorCode::unavailable, "no such root"};
  });
  REQUIRE(failed.size() == 1);
  CHECK(holds(failed[0], "could not be looked for: no such root"));
  write();
  const auto said = sweep_absent_notes(data / "taken", [&](const auto& roots, const auto& names) {
    CHECK(roots == std::vector<std::string>{work.path()});
    CHECK(names == std::vector<std::string>{".envrc"});
    return both;
  });
  REQUIRE(said.size() == 1);
  CHECK(holds(said[0], both[1] + " is a protected name: it was moved to"));
  CHECK(read_file(work / "sub/.envrc") == "the user's");
  CHECK_FALSE(std::filesystem::exists(both[1]));
}

TEST_CASE("a note with a bit that flipped takes nothing, and is named") {
  const TempDirectory data;
  const TempDirectory work;
  const TakenNames store(data / "taken", "r");
  write_file(work / ".envrc", "the user's");
  const auto nothing_found = [](const auto&, const auto&) { return std::vector<std::string>(); };
  REQUIRE(AbsentNote::write(store, "r", {{work / ".envrx"}, {}, {}, {}}));
  const std::string path = std::filesystem::directory_iterator(data / "taken")->path().string();
  std::string text = read_file(path);
  text[text.size() - 2] = 'c';  // .envrc
  write_file(path, text);
  const auto said = sweep_absent_notes(data / "taken", nothing_found);
  REQUIRE(said.size() == 1);
  CHECK(holds(said[0], path + ", the note of a session that was killed, is damaged"));
  CHECK(read_file(work / ".envrc") == "the user's");
}

TEST_CASE("a directory that others may write is no place for what was taken") {
  const TempDirectory data;
  const TempDirectory work;
  std::filesystem::create_directories(data / "taken");
  ::chmod((data / "taken").c_str(), 0777);
  write_file(work / ".envrc", "evil");
  const auto taken = TakenNames(data / "taken", "r").take(open_directory(work.path()), ".envrc");
  REQUIRE_FALSE(taken);
  CHECK(holds(describe_taken(work / ".envrc", taken), "could not be taken away"));
  CHECK(std::filesystem::exists(work / ".envrc"));
}

TEST_CASE("beyond the bound the oldest things go, and the newest always stays") {
  const TempDirectory data;
  const TempDirectory work;
  const TakenNames store(data / "taken", "r");
  const Descriptor parent = open_directory(work.path());
  for (int i = 0; i < 3; ++i) {
    write_file(work / ".envrc", std::string(100'000, 'x'));
    REQUIRE(store.take(parent, ".envrc"));
  }
  const auto one_time = std::filesystem::last_write_time(data / "taken/r/1");
  for (const char* slot : {"taken/r/1", "taken/r/2", "taken/r/3"}) {  // a coarse clock
    std::filesystem::last_write_time(data / slot, one_time);
  }
  CHECK(taken_bytes(data / "taken") >= 300'000);
  CHECK(drop_oldest_taken(data / "taken", 250'000) == 1);
  CHECK_FALSE(std::filesystem::exists(data / "taken/r/1"));
  CHECK(drop_oldest_taken(data / "taken", 1) == 1);
  CHECK(std::filesystem::exists(data / "taken/r/3/.envrc"));
  CHECK(drop_oldest_taken(data / "taken", 1) == 0);
}

TEST_CASE("while commands run only a rename takes, and what is gone is no error of the store") {
  const TempDirectory data;
  const TempDirectory work;
  const TakenNames store(data / "taken", "r");
  const Descriptor parent = open_directory(work.path());
  CHECK_FALSE(store.take_now(parent, ".envrc"));
  CHECK_FALSE(std::filesystem::exists(data / "taken/r/1"));
  write_file(work / ".envrc", "x");
  CHECK(store.take_now(parent, ".envrc"));
  CHECK(read_file(data / "taken/r/1/.envrc") == "x");
}

}  // namespace
}  // namespace pawl::backend
