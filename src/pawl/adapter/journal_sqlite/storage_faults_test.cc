// A disk that fails at the n-th write or sync, for every n. Writes are failed through SQLite's own
// table of system calls, syncs by standing in for the C library's function.
#include <doctest/doctest.h>
#include <sqlite3.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "pawl/adapter/journal_sqlite/store_test_support.h"

namespace {

// Fails the calls from `first` on, `count` of them. Counted from 1; 0 fails none.
struct FailingCall {
  std::atomic<int> seen{0};
  std::atomic<int> first{0};
  std::atomic<int> count{0};
  std::atomic<int> error{EIO};

  bool fails() {
    const int nth = ++seen;
    if (first == 0 || nth < first || nth >= first + count) return false;
    errno = error;
    return true;
  }
  void plan(int nth, int how_many, int number) {
    seen = 0;
    count = how_many;
    error = number;
    first = nth;
  }
};

FailingCall writes;
FailingCall syncs;
FailingCall reads;

// Files may grow to this; 0: as they like. And how far one has grown.
std::atomic<off_t> space{0};
std::atomic<off_t> grown_to{0};

ssize_t failing_pwrite(int fd, const void* bytes, size_t count, off_t offset) {
  if (writes.fails()) return -1;
  const off_t end = offset + static_cast<off_t>(count);
  if (space != 0 && end > space) {
    errno = ENOSPC;
    return -1;
  }
  grown_to = std::max(grown_to.load(), end);
  return ::pwrite(fd, bytes, count, offset);
}

struct InstalledCalls {
  InstalledCalls() { install(reinterpret_cast<sqlite3_syscall_ptr>(failing_pwrite)); }
  ~InstalledCalls() {
    install(nullptr);
    writes.plan(0, 0, EIO);
    syncs.plan(0, 0, EIO);
    space = 0;
    grown_to = 0;
  }
  InstalledCalls(const InstalledCalls&) = delete;
  InstalledCalls& operator=(const InstalledCalls&) = delete;

  static void install(sqlite3_syscall_ptr call) {
    sqlite3_vfs* vfs = sqlite3_vfs_find(nullptr);
    for (const char* name : {"pwrite", "pwrite64"}) vfs->xSetSystemCall(vfs, name, call);
  }
};

}  // namespace

extern "C" int fdatasync(int fd) {
  return syncs.fails() ? -1 : static_cast<int>(::syscall(SYS_fdatasync, fd));
}

extern "C" ssize_t pread(int fd, void* bytes, size_t count, off_t offset) {
  return reads.fails() ? -1 : ::syscall(SYS_pread64, fd, bytes, count, offset);
}

namespace pawl {
namespace {

using contract::append_of;
using contract::outcome;
using contract::run_id;
using contract::Texts;

constexpr std::uint64_t kAppends = 6;

// Appends one after the other until one fails or all are written: the number acknowledged.
struct Workload {
  std::uint64_t acknowledged = 0;
  std::string last = "ok";
  bool opened = true;
  int syncs_while_appending = 0;

  bool run(const std::string& path, const SqliteOptions& options) {
    TestLoop loop;
    auto journal = SqliteJournal::open(path, loop, options);
    if (!journal) {
      last = outcome(journal);
      opened = false;
      return true;
    }
    bool waiting = false;
    const int before = syncs.seen;
    const bool ended = loop.run_until(
        [&] {
          if (waiting) return false;
          if (last != "ok" || acknowledged == kAppends) return true;
          waiting = true;
          const Append append = append_of(run_id("a"), 1, acknowledged, std::string(3000, 'x'));
          (*journal)->append(append, [&](const Status& status) {
            waiting = false;
            last = outcome(status);
            if (status) ++acknowledged;
          });
          return false;
        },
        20'000);
    syncs_while_appending = syncs.seen - before;
    return ended;
  }
};

std::uint64_t records_in(const std::string& path) {
  TestLoop loop;
  const auto journal = SqliteJournal::open(path, loop);
  if (!journal) FAIL(journal.error().message);
  const auto records = (*journal)->read(run_id("a"), 0, 1U << 30U);
  return records ? records->size() : 0;
}

SqliteOptions quick_options() {
  SqliteOptions options;
  options.full_retry_ms = 1;
  options.log_pages_max = 6;  // checkpoints, too, are failed
  return options;
}

// Every sync while appending is one of a commit.
SqliteOptions without_checkpoints() {
  SqliteOptions options = quick_options();
  options.log_pages_max = 1'000'000;
  return options;
}

TEST_CASE("the rig counts writes and syncs") {
  const InstalledCalls calls;
  const TempDirectory directory;
  writes.plan(0, 0, EIO);
  syncs.plan(0, 0, EIO);
  Workload workload;
  REQUIRE(workload.run(directory.path(), quick_options()));

  CHECK(workload.acknowledged == kAppends);
  MESSAGE("writes " << writes.seen.load() << ", syncs " << syncs.seen.load());
  CHECK(writes.seen > 30);
  CHECK(syncs.seen >= static_cast<int>(kAppends));
}

TEST_CASE("no space at the n-th write: nothing is lost, and it goes on when there is space") {
  const InstalledCalls calls;
  for (int nth = 1;; ++nth) {
    const TempDirectory directory;
    {
      REQUIRE(records_in(directory.path()) == 0);
    }  // made while there was space
    writes.plan(nth, 3, ENOSPC);
    Workload workload;
    INFO("write " << nth);
    REQUIRE(workload.run(directory.path(), quick_options()));
    const bool reached = writes.seen >= nth;
    writes.plan(0, 0, EIO);
    // SQLite makes its index anew when it opens: without any space a store cannot be opened.
    REQUIRE(workload.last == (workload.opened ? "ok" : "unavailable"));
    REQUIRE(records_in(directory.path()) == (workload.opened ? kAppends : 0));
    if (!reached) break;
    REQUIRE(nth < 10'000);
  }
}

// Whoever frees space to go on would wait for himself.
TEST_CASE("removing, letting go and messages do not wait for space, and nothing is lost") {
  const InstalledCalls calls;
  SqliteStore store(without_checkpoints());
  StoreView view = store.view();
  Append append = append_of(run_id("a"), 1, 0, "x");
  append.blobs = {contract::blob_of(std::string(5'000, 'b'))};
  append.summary = RunSummary{};
  REQUIRE(contract::append_now(view, append) == "ok");
  const Digest blob = append.blobs.front().digest;
  const auto expire = [&](StatusCallback done) {
    store.owner->expire({run_id("a"), 1, {blob}, 7}, std::move(done));
  };
  const auto remove = [&](StatusCallback done) {
    store.owner->remove(run_id("a"), std::move(done));
  };
  const auto answer_of = [&](const std::function<void(StatusCallback)>& ask) {
    std::optional<Status> answer;
    ask([&](const Status& status) { answer = status; });
    REQUIRE(store.loop.run_until([&] { return answer.has_value(); }));
    return *answer;
  };

  const auto post = [&](StatusCallback done) {
    store.owner->post(run_id("a"), 1, "x", std::move(done));
  };

  writes.plan(1, 1'000'000, ENOSPC);
  using Ask = std::function<void(StatusCallback)>;
  for (const Ask& ask : {Ask(expire), Ask(remove), Ask(post)}) {
    const Status refused = answer_of(ask);
    REQUIRE(outcome(refused) == "unavailable");
    CHECK(refused.error().message.find("make room") != std::string::npos);
  }
  writes.plan(0, 0, EIO);

  CHECK(store.owner->blob(run_id("a"), blob));
  CHECK(outcome(answer_of(expire)) == "ok");
  CHECK(outcome(answer_of(remove)) == "ok");
}

TEST_CASE("a record that does not fit does not keep other runs from writing theirs") {
  const InstalledCalls calls;
  SqliteStore store(without_checkpoints());
  StoreView view = store.view();
  REQUIRE(contract::append_now(view, append_of(run_id("a"), 1, 0, "x")) == "ok");
  REQUIRE(contract::append_now(view, append_of(run_id("b"), 1, 0, "x")) == "ok");
  constexpr std::size_t kTooMuch = 400'000;
  space = grown_to + 100'000;
  std::vector<std::string> ended;
  const auto append = [&](const char* run, std::uint64_t seq, std::size_t bytes) {
    store.owner->append(
        append_of(run_id(run), 1, seq, std::string(bytes, 'x')),
        [&ended, run](const Status& status) { ended.push_back(run + (" " + outcome(status))); });
  };
  append("a", 1, kTooMuch);
  append("a", 2, 10);
  append("b", 1, 10);
  REQUIRE(store.loop.run_until([&] { return !ended.empty(); }));
  CHECK(ended == std::vector<std::string>{"b ok"});

  space = 0;
  REQUIRE(store.loop.run_until([&] { return ended.size() == 3; }));
  CHECK(ended == std::vector<std::string>{"b ok", "a ok", "a ok"});
}

TEST_CASE("a write that fails stops the store: what was acknowledged is there") {
  const InstalledCalls calls;
  for (int nth = 1;; ++nth) {
    const TempDirectory directory;
    {
      REQUIRE(records_in(directory.path()) == 0);
    }
    writes.plan(nth, 1, EIO);
    Workload workload;
    INFO("write " << nth);
    REQUIRE(workload.run(directory.path(), quick_options()));
    const bool reached = writes.seen >= nth;
    writes.plan(0, 0, EIO);
    REQUIRE((workload.last == "ok" || workload.last == "unavailable"));
    const std::uint64_t found = records_in(directory.path());
    REQUIRE(found >= workload.acknowledged);
    REQUIRE(found <= workload.acknowledged + 1);
    if (!reached) break;
    REQUIRE(nth < 10'000);
  }
}

TEST_CASE("every commit that is acknowledged has been synced") {
  const InstalledCalls calls;
  const TempDirectory directory;
  Workload workload;
  REQUIRE(workload.run(directory.path(), without_checkpoints()));

  CHECK(workload.acknowledged == kAppends);
  CHECK(workload.syncs_while_appending >= static_cast<int>(kAppends));
}

// The n-th commit, without an opening or a checkpoint in between. ENOSPC from a sync is no better.
TEST_CASE("a commit whose sync fails is not acknowledged, nor is any after it") {
  const InstalledCalls calls;
  for (const int error : {EIO, ENOSPC, EDQUOT}) {
    for (std::uint64_t commit = 0; commit < kAppends; ++commit) {
      const TempDirectory directory;
      TestLoop loop;
      const auto journal = open_store(directory.path(), loop, without_checkpoints());
      StoreView view{loop, *journal};
      for (std::uint64_t seq = 0; seq < kAppends; ++seq) {
        if (seq == commit) syncs.plan(1, 1, error);
        const std::string found = contract::append_now(view, append_of(run_id("a"), 1, seq, "x"));
        INFO("commit " << commit << " append " << seq << " error " << error);
        REQUIRE(found == std::string(seq < commit ? "ok" : "unavailable"));
      }
      syncs.plan(0, 0, EIO);
    }
  }
}

TEST_CASE("a sync that fails, whichever it is, loses nothing that was acknowledged") {
  const InstalledCalls calls;
  for (int nth = 1;; ++nth) {
    const TempDirectory directory;
    {
      REQUIRE(records_in(directory.path()) == 0);
    }
    syncs.plan(nth, 1, nth % 2 == 0 ? EIO : ENOSPC);
    Workload workload;
    INFO("sync " << nth);
    REQUIRE(workload.run(directory.path(), quick_options()));
    const bool reached = syncs.seen >= nth;
    syncs.plan(0, 0, EIO);
    const std::uint64_t found = records_in(directory.path());
    REQUIRE(found >= workload.acknowledged);
    REQUIRE(found <= workload.acknowledged + 1);
    if (!reached) break;
    REQUIRE((workload.last == "unavailable" || workload.acknowledged == kAppends));
    REQUIRE(nth < 10'000);
  }
}

// One record, acknowledged, and a disk that fails the next sync.
struct FailingNext {
  FailingNext() {
    TestLoop& loop = store.loop;
    StoreView view{loop, *store.owner};
    CHECK(contract::append_now(view, append_of(run_id("a"), 1, 0, "x")) == "ok");
    syncs.plan(1, 1, EIO);
  }
  std::string append(std::uint64_t seq) {
    StoreView view{store.loop, *store.owner};
    return contract::append_now(view, append_of(run_id("a"), 1, seq, "x"));
  }
  std::uintmax_t log_bytes() const { return std::filesystem::file_size(store.database() + "-wal"); }

  InstalledCalls calls;
  SqliteStore store{without_checkpoints()};
};

TEST_CASE("sc-S17: a log that cannot be written back stops the store: no later sync is believed") {
  FailingNext disk;
  CHECK(outcome(disk.store.owner->checkpoint()) == "unavailable");
  CHECK(disk.append(1) == "unavailable");
  CHECK(outcome(disk.store.owner->checkpoint()) == "unavailable");
}

TEST_CASE("sc-S01: after a failed commit the log is left as it is, for whoever opens the store") {
  FailingNext disk;
  CHECK(disk.append(1) == "unavailable");
  const auto before = disk.log_bytes();
  REQUIRE(before > 0);
  disk.store.owner.reset();
  CHECK(disk.log_bytes() == before);
}

TEST_CASE("what a crash left in the log is not built on before the disk has it") {
  const InstalledCalls calls;
  const TempDirectory directory;
  const pid_t child = ::fork();
  if (child == 0) {
    TestLoop loop;
    auto journal = SqliteJournal::open(directory.path(), loop, without_checkpoints());
    StoreView view{loop, **journal};
    const bool written = contract::append_now(view, append_of(run_id("a"), 1, 0, "r0")) == "ok";
    ::_exit(written ? 0 : 1);  // without closing it
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);

  TestLoop loop;
  syncs.plan(1, 1'000, EIO);
  CHECK(outcome(SqliteJournal::open(directory.path(), loop)) == "unavailable");
  CHECK(syncs.seen > 0);
  syncs.plan(0, 0, EIO);
  CHECK(records_in(directory.path()) == 1);
}

// SQLite itself calls it damage.
TEST_CASE("a read that the disk fails is unavailable and not damage, whichever it is") {
  const TempDirectory directory;
  Workload workload;
  REQUIRE(workload.run(directory.path(), without_checkpoints()));
  for (int nth = 1;; ++nth) {
    TestLoop loop;
    reads.plan(nth, 1, EIO);
    const auto journal = SqliteJournal::open(directory.path(), loop, without_checkpoints());
    const std::string opened = outcome(journal);
    const std::string read =
        journal ? outcome((*journal)->read(run_id("a"), 0, std::size_t{1} << 20U)) : opened;
    const bool reached = reads.seen >= nth;
    reads.plan(0, 0, EIO);
    INFO("read " << nth);
    CHECK((opened == "ok" || opened == "unavailable"));
    CHECK((read == "ok" || read == "unavailable"));
    if (!reached) break;
    REQUIRE(nth < 1'000);
  }
  CHECK(records_in(directory.path()) == kAppends);
}

}  // namespace
}  // namespace pawl
