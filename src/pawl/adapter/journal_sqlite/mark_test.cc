#include "pawl/adapter/journal_sqlite/mark.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "pawl/adapter/journal_sqlite/store_test_support.h"

namespace pawl {
namespace {

using contract::append_now;
using contract::append_of;
using contract::make_run;
using contract::outcome;
using contract::run_id;
using sqlite::decode_mark;
using sqlite::encode_mark;
using sqlite::Mark;
using sqlite::MarkFile;
using sqlite::Newest;

constexpr const char* kLog = "store/pawl.db-wal";

Mark mark_of(const SqliteStore& store) {
  const auto file = MarkFile::open(store.directory / "store", MarkFile::Mode::existing);
  REQUIRE(file);
  const auto mark = file->read();
  REQUIRE(mark);
  REQUIRE(*mark);
  return **mark;
}

// A directory as a crash leaves it: a copy while the store is open.
std::string crashed(const SqliteStore& store, const std::string& name) {
  const std::string path = store.directory / name;
  std::filesystem::create_directory(path);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  for (const char* file : {"/pawl.db", "/pawl.db-wal", "/pawl.mark"}) {
    std::filesystem::copy_file(store.directory / "store" + file, path + file);
  }
  return path;
}

void add(SqliteStore& store, const RunId& run, std::uint64_t seq) {
  StoreView view = store.view();
  REQUIRE(append_now(view, append_of(run, 1, seq, "r" + std::to_string(seq))) == "ok");
}

}  // namespace

TEST_CASE("a mark is 64 bytes, and every flipped bit of it is found") {
  const Mark mark{12, {3, 400, 0x1122334455667788, 5, 6}};
  const std::string bytes = encode_mark(mark);
  REQUIRE(bytes.size() == sqlite::kMarkBytes);
  REQUIRE(decode_mark(bytes));
  CHECK(*decode_mark(bytes) == mark);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    CHECK_FALSE(decode_mark(flipped));
  }
  CHECK_FALSE(decode_mark(bytes.substr(1)));
  CHECK_FALSE(decode_mark(bytes + "x"));
  CHECK_FALSE(decode_mark(""));
}

TEST_CASE("of two marks what is newer stays, whoever writes last") {
  const TempDirectory directory;
  const auto file = MarkFile::open(directory / ".", MarkFile::Mode::made);
  REQUIRE(file);
  REQUIRE(file->write({1, {2, 10, 7, 5, 3}}));
  REQUIRE(file->raise({1, {2, 9, 8, 6, 2}}));
  CHECK(**file->read() == Mark{1, {2, 10, 7, 6, 3}});
  // A slot that a crash has torn leaves the one before it.
  {
    std::fstream bytes(directory / "pawl.mark", std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(20);
    bytes << "torn";
  }
  CHECK(**file->read() == Mark{1, {2, 10, 7, 5, 3}});
  // In a later generation rows are numbered anew.
  REQUIRE(file->raise({1, {3, 4, 9, 1, 1}}));
  CHECK(**file->read() == Mark{1, {3, 4, 9, 5, 3}});
}

TEST_CASE("the mark is where the store is before an append is answered") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = make_run(view, "a");
  for (std::uint64_t seq = 1; seq < 4; ++seq) {
    add(store, run, seq);
    CHECK(mark_of(store).newest.row == static_cast<std::int64_t>(seq) + 1);
  }
  bool posted = false;
  store.owner->post(run, 1, "hello", [&](const Status& status) { posted = bool(status); });
  REQUIRE(store.loop.run_until([&] { return posted; }));
  CHECK(mark_of(store).newest.message == 1);
}

TEST_CASE("a log that is cut at the end of a commit is noticed: it is read and nothing is driven") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = make_run(view, "a");
  add(store, run, 1);
  add(store, run, 2);
  const auto whole = std::filesystem::file_size(store.directory / kLog);
  add(store, run, 3);
  add(store, run, 4);
  const std::string copy = crashed(store, "cut");
  std::filesystem::resize_file(copy + "/pawl.db-wal", whole);

  TestLoop loop;
  auto opened = open_store(copy, loop);
  REQUIRE(opened->refusal());
  CHECK(opened->refusal()->message.find("2 records") != std::string::npos);
  CHECK(opened->refusal()->message.find("pawl doctor --accept") != std::string::npos);
  CHECK(opened->read(run, 0, 1000)->size() == 3);
  CHECK(opened->list({})->size() == 1);
  CHECK(outcome(opened->acquire(run)) == "unavailable");
  CHECK(outcome(opened->acquire(run_id("new"))) == "unavailable");
  CHECK(outcome(opened->check()) == "corrupt");
  StoreView cut{loop, *opened};
  CHECK(append_now(cut, append_of(run, 1, 3, "x")) == "unavailable");
  // A copy of it would have no mark to be held against.
  std::string copied;
  opened->copy_to(store.directory / "another", [&](const Status& done) { copied = outcome(done); });
  REQUIRE(loop.run_until([&] { return !copied.empty(); }));
  CHECK(copied == "unavailable");
  // Nothing was changed by looking.
  opened.reset();
  CHECK(std::filesystem::file_size(copy + "/pawl.db-wal") == whole);

  std::filesystem::copy_file(store.directory / kLog, copy + "/pawl.db-wal",
                             std::filesystem::copy_options::overwrite_existing);
  auto mended = open_store(copy, loop);
  CHECK_FALSE(mended->refusal());
  CHECK(mended->read(run, 0, 1000)->size() == 5);
}

TEST_CASE("a log that was taken away, or a mark, is noticed") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = make_run(view, "a");
  REQUIRE(store.owner->checkpoint());
  add(store, run, 1);
  TestLoop loop;
  SUBCASE("log") {
    const std::string copy = crashed(store, "copy");
    std::filesystem::remove(copy + "/pawl.db-wal");
    CHECK(open_store(copy, loop)->refusal());
  }
  SUBCASE("mark") {
    const std::string copy = crashed(store, "copy");
    std::filesystem::remove(copy + "/pawl.mark");
    const auto opened = open_store(copy, loop);
    REQUIRE(opened->refusal());
    CHECK(opened->refusal()->message.find("pawl.mark is missing") != std::string::npos);
  }
  SUBCASE("nothing") {
    CHECK_FALSE(open_store(crashed(store, "copy"), loop)->refusal());
  }
}

TEST_CASE("a store that was cut and written to again is not the one that was acknowledged") {
  SqliteStore store;
  StoreView view = store.view();
  const RunId run = make_run(view, "a");
  add(store, run, 1);
  const std::string copy = crashed(store, "copy");
  add(store, run, 2);
  const Mark marked = mark_of(store);
  TestLoop loop;
  {
    auto other = open_store(copy, loop);
    StoreView there{loop, *other};
    REQUIRE(append_now(there, append_of(run, 1, 2, "another record")) == "ok");
  }
  const auto file = MarkFile::open(copy, MarkFile::Mode::existing);
  REQUIRE(file);
  REQUIRE(file->write(marked));
  const auto opened = open_store(copy, loop);
  REQUIRE(opened->refusal());
  CHECK(opened->refusal()->message.find("row 3 of table journal") != std::string::npos);
}

TEST_CASE("removed runs do not put a store behind its mark") {
  SqliteStore store;
  StoreView view = store.view();
  make_run(view, "a", 5);
  make_run(view, "b", 3);
  bool removed = false;
  store.owner->remove(run_id("b"), [&](const Status& status) { removed = status.has_value(); });
  REQUIRE(store.loop.run_until([&] { return removed; }));
  TestLoop loop;
  CHECK_FALSE(open_store(crashed(store, "right after"), loop)->refusal());
  // The numbers of its rows are given again.
  make_run(view, "c", 1);
  CHECK(mark_of(store).newest.row == 6);
  CHECK_FALSE(open_store(crashed(store, "later"), loop)->refusal());
  store.reopen();
  CHECK_FALSE(store.owner->refusal());
}

}  // namespace pawl
