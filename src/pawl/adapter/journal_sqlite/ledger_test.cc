#include "pawl/adapter/journal_sqlite/ledger.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

constexpr std::int64_t kNow = 1'700'000'000'000;
constexpr std::uint64_t kHourMs = 3'600'000;

BudgetAsk ask_for(std::uint64_t tokens, std::uint64_t most, std::int64_t now_ms = kNow) {
  BudgetAsk ask;
  ask.tenant = "t";
  ask.run = "r";
  ask.input = {0, tokens, 0};
  ask.windows = {{kHourMs, {0, most, 0}, "USD"}};
  ask.now_ms = now_ms;
  return ask;
}

TEST_CASE("a ledger grants, settles, and knows it all after a restart") {
  const TempDirectory directory;
  {
    SqliteLedger ledger(directory.path());
    const auto first = ledger.reserve(ask_for(60, 100));
    REQUIRE(first);
    REQUIRE(first->granted());
    const auto second = ledger.reserve(ask_for(60, 100));
    REQUIRE(second);
    CHECK_FALSE(second->granted());
    REQUIRE(ledger.settle(first->id, {0, 30, 5}));
    REQUIRE(ledger.settle(first->id, {0, 0, 0}));  // once is enough
    const auto third = ledger.reserve(ask_for(60, 100));
    REQUIRE(third);
    CHECK(third->granted());  // and its process dies without settling it
  }
  SqliteLedger ledger(directory.path());
  const auto held = ledger.reserve(ask_for(20, 100));
  REQUIRE(held);
  CHECK_FALSE(held->granted());
  CHECK(held->again_at_ms == kNow + static_cast<std::int64_t>(kHourMs));
  CHECK(ledger.reserve(ask_for(20, 100, kNow + static_cast<std::int64_t>(kHourMs)))->granted());
  const auto entries = ledger.entries("t", kNow);
  REQUIRE(entries);
  CHECK(entries->size() == 3);
  CHECK(ledger.entries("other", kNow)->empty());
  struct stat info = {};
  REQUIRE(::stat((directory.path() + "/" + kLedgerName).c_str(), &info) == 0);
  CHECK((info.st_mode & 0077U) == 0);
}

TEST_CASE("a raise lets a tenant spend more, and only that tenant") {
  const TempDirectory directory;
  SqliteLedger ledger(directory.path());
  CHECK_FALSE(ledger.raise("t", {}, kNow));
  CHECK_FALSE(ledger.reserve(ask_for(150, 100))->granted());
  REQUIRE(ledger.raise("other", {0, 100, 0}, kNow));
  CHECK_FALSE(ledger.reserve(ask_for(150, 100))->granted());
  REQUIRE(ledger.raise("t", {0, 100, 0}, kNow));
  CHECK(ledger.reserve(ask_for(150, 100))->granted());
}

TEST_CASE("many processes at once neither lose a reservation nor spend one twice") {
  constexpr int kProcesses = 4;
  constexpr int kAsks = 40;
  constexpr std::uint64_t kMost = 1'000;
  const TempDirectory directory;
  for (int i = 0; i < kProcesses; ++i) {
    if (::fork() != 0) continue;
    SqliteLedger ledger(directory.path());
    int granted = 0;
    for (int n = 0; n < kAsks; ++n) {
      const auto grant = ledger.reserve(ask_for(10, kMost));
      if (!grant) ::_exit(255);
      if (grant->granted()) ++granted;
    }
    ::_exit(granted);
  }
  int granted = 0;
  for (int i = 0; i < kProcesses; ++i) {
    int status = 0;
    REQUIRE(::wait(&status) > 0);
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) != 255);
    granted += WEXITSTATUS(status);
  }
  CHECK(granted == kMost / 10);
  SqliteLedger ledger(directory.path());
  CHECK(ledger.entries("t", kNow)->size() == kMost / 10);
}

TEST_CASE("processes that make the ledger at the same moment all have it") {
  constexpr int kRounds = 25;
  constexpr int kProcesses = 4;
  for (int round = 0; round < kRounds; ++round) {
    const TempDirectory directory;
    for (int i = 0; i < kProcesses; ++i) {
      if (::fork() != 0) continue;
      SqliteLedger ledger(directory.path());
      ::_exit(ledger.reserve(ask_for(1, 1'000)) ? 0 : 1);
    }
    for (int i = 0; i < kProcesses; ++i) {
      int status = 0;
      REQUIRE(::wait(&status) > 0);
      CHECK(status == 0);
    }
  }
}

TEST_CASE("old entries are summed up, and none leaves its window early") {
  const TempDirectory directory;
  SqliteLedger ledger(directory.path());
  constexpr std::uint64_t kMost = 1'000'000;
  const std::int64_t old_ms = kNow - 2 * kLedgerWholeMs;
  std::uint64_t sum = 0;
  for (std::uint64_t i = 1; i < kLedgerTidyEvery; ++i) {
    const auto grant = ledger.reserve(ask_for(i, kMost, old_ms + static_cast<std::int64_t>(i)));
    REQUIRE(ledger.settle(grant->id, {0, i, 1}));
    sum += i;
  }
  REQUIRE(ledger.reserve(ask_for(1, kMost))->granted());
  const auto entries = ledger.entries("t", kNow);
  REQUIRE(entries);
  CHECK(entries->size() < 4);
  BudgetWindow day{86'400'000, {0, kMost, 0}, "USD"};
  CHECK(spent_in(day, *entries, kNow).tokens == sum + 1);
  const std::int64_t latest_ms = old_ms + static_cast<std::int64_t>(kLedgerTidyEvery) - 1;
  CHECK(std::any_of(entries->begin(), entries->end(),
                    [&](const BudgetEntry& one) { return one.at_ms == latest_ms; }));
}

TEST_CASE("what is still open when old entries are summed up can be settled afterwards") {
  const TempDirectory directory;
  SqliteLedger ledger(directory.path());
  constexpr std::uint64_t kMost = 1'000'000;
  const std::int64_t old_ms = kNow - 2 * kLedgerWholeMs;
  const auto open = ledger.reserve(ask_for(9'000, kMost, old_ms));
  for (std::uint64_t i = 2; i <= kLedgerTidyEvery; ++i) {
    const auto grant = ledger.reserve(ask_for(1, kMost, i == kLedgerTidyEvery ? kNow : old_ms));
    REQUIRE(ledger.settle(grant->id, {0, 1, 1}));
  }
  const BudgetWindow day{86'400'000, {0, kMost, 0}, "USD"};
  CHECK(spent_in(day, *ledger.entries("t", kNow), kNow).tokens == 9'000 + kLedgerTidyEvery - 1);
  REQUIRE(ledger.settle(open->id, {0, 7, 1}));
  CHECK(spent_in(day, *ledger.entries("t", kNow), kNow).tokens == 7 + kLedgerTidyEvery - 1);
}

TEST_CASE("a file that is no ledger is refused, and nothing is granted") {
  const TempDirectory directory;
  std::ofstream(directory.path() + "/" + kLedgerName) << "this is not a database, but a long text";
  SqliteLedger ledger(directory.path());
  CHECK_FALSE(ledger.reserve(ask_for(1, 100)));
  SqliteLedger nowhere(directory.path() + "/none");
  CHECK_FALSE(nowhere.reserve(ask_for(1, 100)));
}

TEST_CASE("a ledger with a changed, lost or strange row is refused, and nothing is spent by it") {
  for (const char* edit :
       {"UPDATE entries SET tokens = tokens - 1 WHERE id = 1",
        "UPDATE entries SET tenant = 'u' WHERE id = 1", "UPDATE entries SET at_ms = 1 WHERE id = 1",
        "UPDATE entries SET settled = 1 - settled WHERE id = 1",
        "UPDATE entries SET raised_tokens = 1000 WHERE id = 2", "DELETE FROM entries WHERE id = 1",
        "UPDATE totals SET rows = rows + 1", "UPDATE totals SET sums = sums + 1",
        "DELETE FROM totals"}) {
    CAPTURE(edit);
    const TempDirectory directory;
    {
      SqliteLedger ledger(directory.path());
      REQUIRE(ledger.reserve(ask_for(60, 100))->granted());
      REQUIRE(ledger.raise("t", {0, 10, 0}, kNow));
    }
    {
      const auto database = sqlite::Connection::open(directory.path() + "/" + kLedgerName);
      REQUIRE(database);
      REQUIRE((*database)->execute(edit));
    }
    SqliteLedger ledger(directory.path());
    const auto asked = ledger.reserve(ask_for(1, 100));
    REQUIRE_FALSE(asked);
    CHECK(asked.error().code == ErrorCode::corrupt);
    CHECK(asked.error().message.find(kLedgerName) != std::string::npos);
  }
}

// Also of what a process left that did not end well: nothing may lie where a flipped bit cuts it
// off.
TEST_CASE("a bit that flips in any file of a ledger takes back nothing that was spent") {
  const TempDirectory directory;
  const std::string kept = directory / "kept";
  const std::string flipped = directory / "flipped";
  std::filesystem::create_directory(kept);
  SqliteLedger living(kept);
  for (int i = 0; i < 4; ++i) REQUIRE(living.reserve(ask_for(10, 1'000)));
  std::size_t flips = 0;
  for (const auto& file : std::filesystem::directory_iterator(kept)) {
    std::ifstream stream(file.path(), std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(stream), {}};
    for (std::size_t at = 0; at < whole.size(); at += 101) {
      std::filesystem::remove_all(flipped);
      std::filesystem::copy(kept, flipped, std::filesystem::copy_options::recursive);
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(1U << (at % 8)));
      std::ofstream(flipped + "/" + file.path().filename().string(), std::ios::binary) << bytes;
      CAPTURE(file.path().filename().string());
      CAPTURE(at);
      const auto entries = SqliteLedger(flipped).entries("t", kNow);
      if (entries) CHECK(entries->size() == 4);
      ++flips;
    }
  }
  CHECK(flips > 50);
}

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST_CASE("an older ledger that is put back is refused until somebody accepts it") {
  const TempDirectory directory;
  const std::string path = directory / kLedgerName;
  REQUIRE(SqliteLedger(directory.path()).reserve(ask_for(10, 100)));
  const std::string older = bytes_of_file(path);
  REQUIRE(SqliteLedger(directory.path()).reserve(ask_for(80, 100)));
  put_file(path, older);

  SqliteLedger ledger(directory.path());
  const auto asked = ledger.reserve(ask_for(80, 100));
  REQUIRE_FALSE(asked);
  CHECK(asked.error().message.find("1 changes that were acknowledged") != std::string::npos);
  CHECK_FALSE(ledger.entries("t", kNow));
  CHECK(examine_ledger(directory.path())->find("behind its mark") != std::string::npos);

  CHECK(accept_ledger(directory.path())->find("behind its mark") != std::string::npos);
  CHECK(*accept_ledger(directory.path()) == "");
  CHECK(*examine_ledger(directory.path()) == "");
  CHECK(SqliteLedger(directory.path()).reserve(ask_for(80, 100))->granted());
}

TEST_CASE("a ledger that is deleted, replaced by another or has lost its mark is refused") {
  const TempDirectory other;
  REQUIRE(SqliteLedger(other.path()).reserve(ask_for(10, 100)));
  for (const std::string loss : {"deleted", "replaced", "unmarked", "emptied"}) {
    CAPTURE(loss);
    const TempDirectory directory;
    const std::string path = directory / kLedgerName;
    REQUIRE(SqliteLedger(directory.path()).reserve(ask_for(10, 100)));
    if (loss == "deleted") std::filesystem::remove(path);
    if (loss == "replaced") put_file(path, bytes_of_file(other / kLedgerName));
    if (loss == "unmarked") std::filesystem::remove(directory / sqlite::kLedgerMarkName);
    if (loss == "emptied") put_file(path, "");
    CHECK_FALSE(SqliteLedger(directory.path()).reserve(ask_for(10, 100)));
    CHECK(*accept_ledger(directory.path()) != "");
    CHECK(SqliteLedger(directory.path()).reserve(ask_for(10, 100)));
  }
}

TEST_CASE("a ledger that is replaced under a process acknowledges nothing more") {
  const TempDirectory directory;
  SqliteLedger ledger(directory.path());
  REQUIRE(ledger.reserve(ask_for(10, 100)));
  const std::string path = directory / kLedgerName;
  std::filesystem::copy_file(path, directory / "copy");
  std::filesystem::rename(directory / "copy", path);

  CHECK_FALSE(ledger.reserve(ask_for(10, 100)));
}

TEST_CASE("a bit that flips in the mark of a ledger lets nobody spend twice") {
  const TempDirectory directory;
  REQUIRE(SqliteLedger(directory.path()).reserve(ask_for(60, 100)));
  const std::string path = directory / sqlite::kLedgerMarkName;
  const std::string whole = bytes_of_file(path);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ static_cast<char>(1U << at % 8));
    put_file(path, flipped);
    const auto asked = SqliteLedger(directory.path()).reserve(ask_for(60, 100));
    CAPTURE(at);
    CHECK((!asked || !asked->granted()));
  }
}

}  // namespace
}  // namespace pawl
