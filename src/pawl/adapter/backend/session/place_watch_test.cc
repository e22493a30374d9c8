#include "pawl/adapter/backend/session/place_watch.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_directory.h"

namespace pawl::backend {
namespace {

void save(const std::string& path, const char* text) {
  std::ofstream(path) << text;
}

TEST_CASE("only what concerns a name is news") {
  const TempDirectory directory;
  PlaceWatch watch;
  watch.add_directory(directory.path());
  watch.add_name(".envrc");
  CHECK_FALSE(watch.has_news());
  save(directory / "other", "x");
  CHECK_FALSE(watch.has_news());
  save(directory / ".envrc", "x");
  CHECK(watch.has_news());
  watch.forget();
  CHECK_FALSE(watch.has_news());
  save(directory / ".envrc", "in place");
  CHECK_FALSE(watch.has_news());
  std::filesystem::remove(directory / ".envrc");
  CHECK(watch.has_news());
}

TEST_CASE("a write after a replacement is told from the replacement itself") {
  const TempDirectory directory;
  save(directory / ".envrc", "old");
  PlaceWatch watch;
  watch.add_directory(directory.path());
  watch.add_name(".envrc");
  save(directory / "new", "new");
  std::filesystem::rename(directory / "new", directory / ".envrc");
  CHECK(watch.has_news());
  CHECK_FALSE(watch.was_written(directory / ".envrc"));
  save(directory / ".envrc", "the agent's");
  watch.has_news();
  CHECK(watch.was_written(directory / ".envrc"));
}

TEST_CASE("a replacement that is removed is told from a name that the host removes") {
  const TempDirectory directory;
  const std::string name = directory / ".envrc";
  save(name, "old");
  PlaceWatch watch;
  watch.add_directory(directory.path());
  watch.add_name(".envrc");
  SUBCASE("the host removes it") {
    std::filesystem::remove(name);
    watch.has_news();
    CHECK_FALSE(watch.was_removed(name));
    return;
  }
  save(directory / "new", "the operator's");
  std::filesystem::rename(directory / "new", name);
  watch.has_news();
  CHECK_FALSE(watch.was_removed(name));
  SUBCASE("removed") {
    std::filesystem::remove(name);
  }
  SUBCASE("moved away") {
    std::filesystem::rename(name, directory / "moved");
  }
  watch.has_news();
  CHECK(watch.was_removed(name));
  CHECK_FALSE(watch.was_written(name));
  save(name, "the agent's");
  watch.has_news();
  CHECK(watch.was_written(name));
}

TEST_CASE("an entry has moved from the moment on at which it is removed, whatever comes after") {
  const TempDirectory directory;
  const std::string name = directory / ".envrc";
  save(name, "old");
  PlaceWatch watch;
  watch.add_directory(directory.path());
  watch.add_name(".envrc");
  std::filesystem::remove(name);
  save(name, "before it is held");
  watch.begin();
  CHECK_FALSE(watch.has_moved(name));
  save(name, "in place");
  watch.has_news();
  CHECK_FALSE(watch.has_moved(name));
  std::filesystem::remove(name);
  save(name, "anew, perhaps with the same number");
  watch.has_news();
  CHECK(watch.has_moved(name));
  CHECK_FALSE(watch.has_moved(directory / "other"));
}

TEST_CASE("what is put in the place of a replacement, or of nothing, counts as written") {
  const TempDirectory directory;
  const std::string name = directory / ".envrc";
  save(name, "old");
  PlaceWatch watch;
  watch.add_directory(directory.path());
  watch.add_name(".envrc");
  const auto put = [&](const char* text) {
    save(directory / "new", text);
    std::filesystem::rename(directory / "new", name);
  };
  SUBCASE("a second rename") {
    put("the operator's");
    put("the agent's");
  }
  SUBCASE("a link over a replacement") {
    put("the operator's");
    std::filesystem::create_symlink("/etc/passwd", directory / "link");
    std::filesystem::rename(directory / "link", name);
  }
  SUBCASE("a link where the name was removed") {
    std::filesystem::remove(name);
    std::filesystem::create_symlink("/etc/passwd", name);
  }
  SUBCASE("a rename where the name was moved away") {
    std::filesystem::rename(name, directory / "elsewhere");
    put("the agent's");
  }
  watch.has_news();
  CHECK(watch.was_written(name));
  watch.forget();
  put("the operator's");
  watch.has_news();
  CHECK_FALSE(watch.was_written(name));
}

TEST_CASE("a directory that cannot be watched makes it blind, and blind means look") {
  PlaceWatch watch;
  CHECK(watch.descriptor() >= 0);
  watch.add_directory("/no/such/directory");
  CHECK(watch.descriptor() == -1);
  CHECK(watch.has_news());
  CHECK(watch.was_written("/any"));
}

TEST_CASE("a directory that is moved away is news") {
  const TempDirectory directory;
  std::filesystem::create_directories(directory / "a");
  PlaceWatch watch;
  watch.add_directory(directory / "a");
  std::filesystem::rename(directory / "a", directory / "b");
  CHECK(watch.has_news());
}

}  // namespace
}  // namespace pawl::backend
