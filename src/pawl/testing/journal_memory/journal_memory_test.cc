#include "pawl/testing/journal_memory/journal_memory.h"

#include <doctest/doctest.h>

#include <memory>

#include "tests/contract/journal_contract.h"
#include "tests/contract/retention_contract.h"
#include "tests/contract/upkeep_contract.h"

namespace pawl {
namespace {

struct MemoryStore {
  TestLoop loop;
  MemoryJournal journal{loop};
};

TEST_CASE("the memory journal keeps the contract") {
  contract::check_journal_contract<MemoryStore>();
}

TEST_CASE("the memory journal keeps the contract of upkeep") {
  contract::check_upkeep_contract<MemoryStore>();
}

TEST_CASE("the memory journal keeps the contract of retention") {
  contract::check_retention_contract<MemoryStore>();
}

TEST_CASE("callbacks are not called after the journal is gone") {
  TestLoop loop;
  auto journal = std::make_unique<MemoryJournal>(loop);
  bool called = false;
  journal->append(contract::append_of(RunId{"a"}, 1, 0, "x"),
                  [&](const Status&) { called = true; });
  auto drive = journal->acquire(RunId{"a"});
  REQUIRE(drive);

  journal.reset();
  loop.run_posted();
  drive->hold.reset();

  CHECK_FALSE(called);
}

}  // namespace
}  // namespace pawl
