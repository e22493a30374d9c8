// What several processes do to one store. Children are forked before the parent opens anything: a
// forked copy of an open store would share its locks.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "pawl/adapter/journal_sqlite/store_test_support.h"
#include "pawl/base/descriptor.h"
#include "tests/contract/upkeep_contract.h"

namespace pawl {
namespace {

using contract::append_now;
using contract::append_of;
using contract::make_run;
using contract::outcome;
using contract::records_of;
using contract::run_id;

struct OpenStore {
  explicit OpenStore(const std::string& path) {
    auto opened = SqliteJournal::open(path, loop);
    if (!opened) FAIL(opened.error().message);
    owner = std::move(*opened);
  }
  TestLoop loop;
  std::unique_ptr<SqliteJournal> owner;
};

// A child process and the pipe it reports through.
class Child {
 public:
  explicit Child(const std::function<void(int)>& work) {
    int ends[2] = {-1, -1};
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      work(ends[1]);
      ::_exit(0);
    }
    reports_ = Descriptor(ends[0]);
    ::close(ends[1]);
  }
  ~Child() {
    if (pid_ > 0) kill();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // The next number reported; nothing when the child is gone.
  std::optional<std::uint64_t> next() {
    std::uint64_t value = 0;
    const ssize_t got = ::read(reports_.number(), &value, sizeof value);
    return got == sizeof value ? std::optional(value) : std::nullopt;
  }
  void kill() {
    ::kill(pid_, SIGKILL);
    wait();
  }
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_ = -1;
  Descriptor reports_;
};

void report(int pipe, std::uint64_t value) {
  if (::write(pipe, &value, sizeof value) != sizeof value) ::_exit(1);
}

TEST_CASE("a run that another process drives is a conflict, until that process is killed") {
  const TempDirectory directory;
  Child child([&](int pipe) {
    OpenStore store(directory.path());
    StoreView view{store.loop, *store.owner};
    const RunId run = make_run(view, "a");
    const auto drive = store.owner->acquire(run);
    report(pipe, drive ? drive->epoch : 0);
    ::pause();
  });
  REQUIRE(child.next() == 2);
  OpenStore store(directory.path());
  CHECK(outcome(store.owner->acquire(run_id("a"))) == "conflict");
  CHECK(outcome(store.owner->acquire(run_id("other"))) == "ok");
  CHECK(*store.owner->is_driven(run_id("a")));
  CHECK_FALSE(*store.owner->is_driven(run_id("other")));

  StoreView view{store.loop, *store.owner};
  CHECK(contract::remove_now(view, run_id("a")) == "conflict");

  child.kill();
  CHECK_FALSE(*store.owner->is_driven(run_id("a")));

  const auto drive = store.owner->acquire(run_id("a"));
  REQUIRE(drive);
  CHECK(drive->epoch == 3);
  CHECK(drive->length == 1);
}

TEST_CASE("what a killed process was told is written, is written") {
  constexpr int kKills = 15;
  std::mt19937_64 random(11);
  const TempDirectory directory;
  std::uint64_t told = 0;  // the number of records that some child knew of
  for (int kill = 0; kill < kKills; ++kill) {
    Child child([&](int pipe) {
      OpenStore store(directory.path());
      StoreView view{store.loop, *store.owner};
      const auto drive = store.owner->acquire(run_id("a"));
      if (!drive) ::_exit(1);
      for (std::uint64_t seq = drive->length;; ++seq) {
        const Append append = append_of(run_id("a"), drive->epoch, seq, std::to_string(seq));
        if (append_now(view, append) == "ok") report(pipe, seq + 1);
      }
    });
    const std::uint64_t wanted = told + 1 + random() % 40;
    while (told < wanted) {
      const auto value = child.next();
      REQUIRE(value);
      REQUIRE(*value > told);
      told = *value;
    }
    child.kill();
    while (const auto value = child.next()) told = *value;

    OpenStore store(directory.path());
    StoreView view{store.loop, *store.owner};
    const auto records = records_of(view, run_id("a"));
    REQUIRE(records.size() >= told);
    for (std::size_t seq = 0; seq < records.size(); ++seq) {
      REQUIRE(records[seq] == std::to_string(seq));
    }
  }
}

// Each writer has a run of its own, and all of them take turns at one more.
void write_much(const std::string& path, std::uint64_t writer, int pipe) {
  constexpr std::uint64_t kOwnAppends = 40;
  constexpr std::uint64_t kSharedAppends = 10;
  OpenStore store(path);
  StoreView view{store.loop, *store.owner};
  make_run(view, "own" + std::to_string(writer), kOwnAppends);
  for (std::uint64_t done = 0; done < kSharedAppends;) {
    const auto drive = store.owner->acquire(run_id("shared"));
    if (!drive) {
      store.loop.run_until([] { return false; }, 1);  // someone else has it: let them
      continue;
    }
    Append append = append_of(run_id("shared"), drive->epoch, drive->length, "by someone");
    if (append_now(view, append) == "ok") ++done;
  }
  report(pipe, kOwnAppends + kSharedAppends);
}

TEST_CASE("eight processes that write to one directory lose nothing") {
  constexpr std::uint64_t kWriters = 8;
  const TempDirectory directory;
  std::vector<std::unique_ptr<Child>> children;
  for (std::uint64_t writer = 0; writer < kWriters; ++writer) {
    children.push_back(std::make_unique<Child>(
        [&, writer](int pipe) { write_much(directory.path(), writer, pipe); }));
  }
  for (const auto& child : children) {
    CHECK(child->next() == 50);
    CHECK(child->wait() == 0);
  }

  OpenStore store(directory.path());
  StoreView view{store.loop, *store.owner};

  for (std::uint64_t writer = 0; writer < kWriters; ++writer) {
    CHECK(records_of(view, run_id("own" + std::to_string(writer))).size() == 40);
  }
  CHECK(records_of(view, run_id("shared")).size() == kWriters * 10);
  CHECK(store.owner->list({})->size() == kWriters + 1);
}

TEST_CASE("a removal whose process is killed in the middle hides the run and is finished later") {
  const TempDirectory directory;
  Child child([&](int pipe) {
    OpenStore store(directory.path());
    StoreView view{store.loop, *store.owner};
    make_run(view, "stays", 2);
    std::uint64_t durable = 0;
    for (std::uint64_t seq = 0; seq < 3'000; ++seq) {
      Append append = append_of(run_id("large"), 1, seq, "r");
      append.blobs = {contract::blob_of("blob " + std::to_string(seq))};
      store.owner->append(std::move(append), [&](const Status&) { ++durable; });
    }
    store.loop.run_until([&] { return durable == 3'000; });
    store.owner->remove(run_id("large"), [](const Status&) {});
    store.loop.run_until([&] { return store.loop.timer_count() > 0; });  // after one slice
    report(pipe, store.owner->size()->removing);
    ::pause();
  });
  REQUIRE(child.next() == 1);
  child.kill();

  OpenStore store(directory.path());
  StoreView view{store.loop, *store.owner};
  CHECK(store.owner->list({})->size() == 1);
  CHECK(outcome(store.owner->read(run_id("large"), 0, 1)) == "not_found");
  CHECK(store.owner->size()->removing == 1);
  contract::finish(view, [&] { return store.owner->size()->removing == 0; });
  contract::compact_now(view);

  CHECK(store.owner->size()->bytes < 200'000);
  CHECK(records_of(view, run_id("stays")).size() == 2);
}

TEST_CASE("another process's message and its commit are seen") {
  const TempDirectory directory;
  {
    OpenStore store(directory.path());
    StoreView view{store.loop, *store.owner};
    make_run(view, "a");
  }
  int go[2] = {-1, -1};
  REQUIRE(::pipe(go) == 0);
  Child child([&](int pipe) {
    char byte = 0;
    if (::read(go[0], &byte, 1) != 1) ::_exit(1);
    OpenStore store(directory.path());
    StoreView view{store.loop, *store.owner};
    report(pipe, contract::post_now(view, run_id("a"), "hello") == "ok" ? 1 : 0);
  });
  OpenStore store(directory.path());
  const std::uint64_t version = *store.owner->version();
  REQUIRE(::write(go[1], "x", 1) == 1);
  REQUIRE(child.next() == 1);

  CHECK(*store.owner->version() != version);
  CHECK(store.owner->pending(run_id("a"))->front().body == "hello");
  ::close(go[0]);
  ::close(go[1]);
}

}  // namespace
}  // namespace pawl
