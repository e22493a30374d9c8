#include "pawl/adapter/backend/files/change_watch.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_directory.h"

namespace pawl::backend {
namespace {

struct WatchedDirectory {
  WatchedDirectory() {
    std::filesystem::create_directory(directory / "sub");
    std::ofstream(directory / "sub/f") << "one";
    arm();
  }
  void arm() {
    watch.begin();
    const Descriptor root(::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    watch.add(root.number(), "");
    watch.add(root.number(), "sub");
  }
  TempDirectory directory;
  ChangeWatch watch;
};

TEST_CASE("reading leaves a watch quiet, every kind of change does not") {
  WatchedDirectory place;
  const std::string file = place.directory / "sub/f";
  std::string text;
  std::ifstream(file) >> text;
  CHECK(place.watch.is_quiet());
  const auto touches = [&](auto change) {
    place.arm();
    REQUIRE(place.watch.is_quiet());
    change();
    return !place.watch.is_quiet() && !place.watch.is_quiet();  // it stays so
  };
  CHECK(touches([&] { std::ofstream(file) << "two"; }));
  CHECK(touches([&] { std::ofstream(place.directory / "sub/g") << ""; }));
  CHECK(touches([&] { REQUIRE(::truncate(file.c_str(), 1) == 0); }));
  CHECK(touches([&] { REQUIRE(::chmod(file.c_str(), 0700) == 0); }));
  CHECK(touches([&] { std::filesystem::rename(file, place.directory / "f"); }));
  CHECK(touches([&] { std::filesystem::remove(place.directory / "f"); }));
  CHECK(touches([&] { std::filesystem::create_directory(place.directory / "new"); }));
  CHECK(touches([&] { std::filesystem::remove_all(place.directory / "sub"); }));
}

TEST_CASE(
    "a write by a name in a directory that is not watched is seen where the file is watched") {
  WatchedDirectory place;
  const TempDirectory elsewhere;
  std::filesystem::create_hard_link(place.directory / "sub/f", elsewhere / "f");
  place.arm();
  std::ofstream(elsewhere / "f") << "not seen";
  CHECK(place.watch.is_quiet());  // what the kernel tells a directory
  place.arm();
  const Descriptor sub(
      ::open((place.directory / "sub").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  place.watch.add_file(sub.number(), "f");
  REQUIRE(place.watch.is_quiet());
  std::ofstream(elsewhere / "f") << "seen";
  CHECK_FALSE(place.watch.is_quiet());
}

TEST_CASE("a watch that is not complete is never quiet") {
  WatchedDirectory place;
  REQUIRE(place.watch.is_quiet());
  place.watch.give_up();
  CHECK_FALSE(place.watch.is_quiet());
  place.arm();
  CHECK_FALSE(place.watch.is_quiet());
  ChangeWatch unused;
  CHECK_FALSE(unused.is_quiet());
}

TEST_CASE("more directories than a watch takes make it give up, removed ones do not count") {
  WatchedDirectory place;
  const Descriptor root(::open(place.directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto add = [&](std::size_t number) {
    const std::string name = "d" + std::to_string(number);
    REQUIRE(::mkdirat(root.number(), name.c_str(), 0700) == 0);
    place.watch.add(root.number(), name);
  };
  const auto remove_all = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      std::filesystem::remove(place.directory / ("d" + std::to_string(i)));
    }
  };
  for (std::size_t i = 0; i < kChangeWatchesMax - 10; ++i) add(i);
  remove_all(kChangeWatchesMax - 10);
  place.arm();
  CHECK(place.watch.is_quiet());
  for (std::size_t i = 0; i < kChangeWatchesMax; ++i) add(i);
  place.arm();
  CHECK_FALSE(place.watch.is_quiet());
}

}  // namespace
}  // namespace pawl::backend
