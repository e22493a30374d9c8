#include "pawl/adapter/journal_sqlite/store_doctor.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "pawl/adapter/journal_sqlite/journal_sqlite.h"
#include "tests/contract/journal_contract_support.h"
#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

using contract::append_now;
using contract::append_of;
using contract::make_run;
using contract::run_id;

struct OpenStore {
  explicit OpenStore(const std::string& path) : owner(open(path)), journal(*owner) {}
  std::unique_ptr<SqliteJournal> open(const std::string& path) {
    auto opened = SqliteJournal::open(path, loop);
    REQUIRE(opened);
    return *std::move(opened);
  }
  TestLoop loop;
  std::unique_ptr<SqliteJournal> owner;
  SqliteJournal& journal;
};

// "grade about: text; remedy" of those about `about`.
std::string said(const std::string& directory, const std::string& about) {
  static const std::vector<std::string> kGrades = {"ok", "warning", "problem"};
  std::string text;
  for (const Finding& finding : examine_data(directory)) {
    if (finding.about != about) continue;
    text += kGrades[static_cast<std::size_t>(finding.grade)] + " " + finding.text;
    text += (finding.remedy.empty() ? "" : "; " + finding.remedy) + "\n";
  }
  return text;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("a directory that is not there yet is well, a file in its place is not") {
  const TempDirectory directory;
  CHECK(holds(said(directory / "none", "data directory"), "ok "));
  std::ofstream(directory / "file").flush();
  CHECK(holds(said(directory / "file", "data directory"), "problem "));
  CHECK_FALSE(std::filesystem::exists(directory / "none"));
}

TEST_CASE("runs are counted and those that need somebody are named with what helps") {
  const TempDirectory directory;
  OpenStore store(directory / "store");
  make_run(store, "killed");
  const auto drive = store.journal.acquire(make_run(store, "driven"));
  Append waiting = append_of(run_id("doubtful"), 1, 0, "r0");
  waiting.summary->status = "waiting";
  waiting.summary->reason = "in_doubt";
  REQUIRE(append_now(store, waiting) == "ok");
  REQUIRE(store.journal.quarantine(make_run(store, "bad"), "row 7 is damaged"));

  CHECK(said(directory / "store", "runs") ==
        "ok 4, 1 interrupted, 1 quarantined, 1 running, 1 waiting\n");
  const std::string runs = said(directory / "store", "run");
  CHECK(holds(runs, "warning killed is interrupted: nobody drives it; pawl resume killed"));
  CHECK(holds(runs, "warning doubtful waits for somebody to say what a call did; pawl explain"));
  CHECK(holds(runs, "problem bad is quarantined; pawl verify bad"));
  CHECK_FALSE(holds(runs, "driven is"));
  CHECK(holds(said(directory / "store", "lock file"), "a process has the store open"));
  CHECK(holds(said(directory / "store", "database"), "ok version 1 of 1, "));
  CHECK(holds(said(directory / "store", "large run"), "events"));
}

TEST_CASE("modes, leftovers and a newer store are found") {
  const TempDirectory directory;
  const std::string path = directory / "store";
  {
    OpenStore store(path);
    make_run(store, "a");
  }
  CHECK(said(path, "modes") == "");
  CHECK(said(path, "leftover") == "");
  std::filesystem::permissions(path + "/pawl.lock", std::filesystem::perms::owner_all);
  CHECK(holds(said(path, "modes"), "warning pawl.lock has mode 0700; chmod 0600"));
  std::ofstream(path + "/pawl.db.old").flush();
  std::filesystem::create_directory(path + "/logs");
  std::ofstream(path + "/logs/a.log").flush();
  std::ofstream(path + "/logs/gone.log").flush();
  std::filesystem::create_directories(path + "/artifacts/a");  // kept by tools, and wanted
  CHECK(holds(said(path, "leftover"), "warning pawl.db.old"));
  CHECK(holds(said(path, "leftover"), "warning 1 logs of runs that are not there"));
  CHECK(!holds(said(path, "leftover"), "artifacts"));
  std::filesystem::permissions(path, std::filesystem::perms(0777));
  CHECK(holds(said(path, "data directory"), "problem "));
  std::fstream database(path + "/pawl.db", std::ios::in | std::ios::out | std::ios::binary);
  database.seekp(63).put(9);
  database.close();
  CHECK(holds(said(path, "database"), "problem "));
}

TEST_CASE("the largest runs are named, largest first, and the bytes of all are added up") {
  const TempDirectory directory;
  OpenStore store(directory / "store");
  for (const auto& [id, bytes] : std::map<std::string, std::size_t>{
           {"large", 4'000}, {"middle", 2'000}, {"small", 100}, {"tiny", 10}}) {
    const Append append = append_of(run_id(id), 1, 0, std::string(bytes, 'x'));
    REQUIRE(append_now(store, append) == "ok");
  }

  CHECK(said(directory / "store", "large run") ==
        "ok large has 1 events, 4032 bytes\nok middle has 1 events, 2032 bytes\n"
        "ok small has 1 events, 132 bytes\n");
  for (const Finding& finding : examine_data(directory / "store")) {
    if (finding.about != "runs") continue;
    CHECK(finding.figures.back().first == "bytes");
    CHECK(finding.figures.back().second == 4'032 + 2'032 + 132 + 42);
  }
}

TEST_CASE("of many runs of a kind some are named, and the others counted") {
  const TempDirectory directory;
  OpenStore store(directory / "store");
  for (std::size_t i = 0; i < kRunsNamedMax + 2; ++i) make_run(store, "r" + std::to_string(i));

  CHECK(holds(said(directory / "store", "run"),
              "warning 2 more: each is interrupted: nobody drives it; pawl ls lists them"));
}

TEST_CASE("the rest of a commit that was never acknowledged is said") {
  const TempDirectory directory;
  const std::string path = directory / "store";
  {
    OpenStore store(path);
    make_run(store, "a");
  }
  std::ofstream(path + "/pawl.db-wal") << std::string(20, 'x');  // less than a header

  CHECK(said(path, "log") ==
        "warning 20 bytes of a commit that was never acknowledged; cut off when the store is next "
        "opened\n");
}

}  // namespace
}  // namespace pawl
