// Which files and directories are synced by whoever makes them. A name that is not synced into its
// directory is lost with the power, and all that is in the file with it; no rig that kills
// processes can see that.
#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <mutex>

#include "pawl/adapter/journal_sqlite/copying.h"
#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/adapter/journal_sqlite/store_test_support.h"

namespace {

std::mutex synced_mutex;
std::vector<std::string>* synced_paths = nullptr;  // null: nobody wants to know

void note_sync(int file) {
  const std::lock_guard lock(synced_mutex);
  if (synced_paths == nullptr) return;
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
  if (length > 0) synced_paths->emplace_back(path.data(), static_cast<std::size_t>(length));
}

}  // namespace

// In place of the C library's, for all code of this program.
extern "C" int fsync(int file) {
  note_sync(file);
  return static_cast<int>(::syscall(SYS_fsync, file));
}

namespace pawl {
namespace {

using contract::make_run;

class SyncLog {
 public:
  SyncLog() {
    const std::lock_guard lock(synced_mutex);
    synced_paths = &paths;
  }
  ~SyncLog() {
    const std::lock_guard lock(synced_mutex);
    synced_paths = nullptr;
  }
  SyncLog(const SyncLog&) = delete;
  SyncLog& operator=(const SyncLog&) = delete;

  bool has(const std::string& path) const {
    return std::find(paths.begin(), paths.end(), path) != paths.end();
  }

  std::vector<std::string> paths;
};

std::string real(const std::string& path) {
  return std::filesystem::canonical(path).string();
}

TEST_CASE("every directory of a new store, and its database, are synced where their names are") {
  const TempDirectory directory;
  TestLoop loop;
  const SyncLog log;

  const auto store = open_store(directory / "a/b", loop);

  const std::string top = real(directory / "a/..");
  CHECK(log.has(top));
  CHECK(log.has(top + "/a"));
  CHECK(log.has(top + "/a/b"));
}

TEST_CASE("a copy is synced before it gets its name, and then its name is") {
  SqliteStore store;
  StoreView view = store.view();
  make_run(view, "a");
  const std::string top = real(store.directory / "store/..");
  const std::string draft = top + "/copy.partial-" + std::to_string(::getpid());
  const std::atomic<bool> stop = false;
  const SyncLog log;

  REQUIRE(sqlite::copy_store(store.database(), top + "/copy", stop));

  // SQLite syncs the database as well, but only when it is told to.
  CHECK(log.has(draft + "/pawl.db"));
  REQUIRE(log.paths.size() >= 2);
  CHECK(log.paths[log.paths.size() - 2] == draft);
  CHECK(log.paths.back() == top);
}

TEST_CASE("the copy that a migration leaves is synced, and so is its name") {
  SqliteStore store;
  const std::string top = real(store.directory / "store/..");
  const auto connection = sqlite::Connection::open(store.database());
  REQUIRE(connection);
  const SyncLog log;

  REQUIRE(sqlite::copy_database(**connection, top + "/before.db"));

  CHECK(log.has(top + "/before.db.partial"));
  CHECK(log.paths.back() == top);
}

}  // namespace
}  // namespace pawl
