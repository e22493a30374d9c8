// A process with fewer descriptors than its runs would like to have.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <fstream>
#include <set>

#include "pawl/adapter/asio/asio_loop.h"
#include "pawl/adapter/backend/command/command_tool.h"
#include "pawl/adapter/journal_sqlite/journal_sqlite.h"
#include "pawl/engine/engine.h"
#include "pawl/journal/run_loader.h"
#include "pawl/testing/executor_scripted/executor_scripted.h"
#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

constexpr std::size_t kRuns = 100;
constexpr rlim_t kFew = 64;

// Restores what there was: the other tests of this program want more.
class Descriptors {
 public:
  explicit Descriptors(rlim_t most) {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    struct rlimit few = before_;
    few.rlim_cur = most;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  }
  ~Descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

 private:
  struct rlimit before_{};
};

// Runs on a store, each of which pays once, by a command that is under way for a while.
struct Payers {
  Payers() {
    auto opened = SqliteJournal::open(directory.path(), loop);
    REQUIRE(opened);
    journal = *std::move(opened);
    agent.charter.name = "payer";
    agent.charter.instructions = "Pay.";
    agent.charter.model = "scripted";
    Script script;
    script.replies = {ScriptReply::call("pay"), ScriptReply::say("Done.")};
    agent.executor = make_scripted_executor(std::move(script), loop);
    CommandSpec pay;
    pay.tool.name = "pay";
    pay.tool.effect = EffectClass::once;
    pay.command = {"sh", "-c", "echo $PAWL_KEY >>" + ledger() + "; sleep 0.3"};
    pay.working_directory = directory.path();
    agent.tools.push_back(make_command_tool(pay, loop, std::make_shared<CommandPool>()));
    engine = std::make_unique<Engine>(
        EngineOptions{loop,
                      {journal.get(), journal.get(), journal.get(), journal.get()},
                      {},
                      [this](const PinnedCharter&) -> Result<PreparedAgent> { return agent; },
                      "test"});
    engine->on_ended([this](const RunId&, const Status& status) {
      CHECK(status.has_value());
      ++ended;
    });
  }
  ~Payers() { engine.reset(); }
  Payers(const Payers&) = delete;
  Payers& operator=(const Payers&) = delete;

  std::string ledger() const { return directory / "ledger"; }
  void run(std::size_t runs) {
    const std::size_t over = ended + runs;
    for (std::size_t i = 0; i < runs; ++i) {
      engine->start({agent, "go", std::nullopt, nullptr}, [this](const Result<RunId>& id) {
        if (id) return ids.push_back(*id);
        refusals.push_back(id.error().message);
        ++ended;
      });
    }
    loop.run_until([&] { return ended == over; });
  }
  std::multiset<std::string> paid() const {
    std::multiset<std::string> keys;
    std::ifstream file(ledger());
    for (std::string key; std::getline(file, key);) keys.insert(key);
    return keys;
  }

  TempDirectory directory;
  AsioLoop loop;
  std::unique_ptr<SqliteJournal> journal;
  PreparedAgent agent;
  std::unique_ptr<Engine> engine;
  std::vector<RunId> ids;
  std::vector<std::string> refusals;  // of runs that could not even start
  std::size_t ended = 0;
};

// What the journals say of the calls: the keys of those that succeeded, and what the others said.
struct Outcomes {
  std::multiset<std::string> keys;
  std::vector<std::string> failures;
};
Outcomes outcomes_of(Payers& payers) {
  Outcomes outcomes;
  for (const RunId& id : payers.ids) {
    std::string key;
    JournalWalker walker(*payers.journal, id);
    REQUIRE(walker.walk([&](const Record& record, const Run& run) {
      const auto* finished = std::get_if<ToolFinished>(&record.event);
      if (finished == nullptr) return true;
      if (finished->end == ToolEnd::succeeded) {
        outcomes.keys.insert(key_of(run.state(), finished->call));
      } else {
        outcomes.failures.push_back(*finished->content.bytes());
      }
      return true;
    }));
    CHECK(name(status_of(walker.loaded().run.state())) == "done");
  }
  return outcomes;
}

TEST_CASE(
    "sc-S08: of a hundred runs with 64 descriptors none is lost, and what cannot start says so") {
  Payers payers;
  {
    const Descriptors few(kFew);
    payers.run(kRuns);
  }
  const Outcomes first = outcomes_of(payers);
  CHECK(payers.ids.size() + payers.refusals.size() == kRuns);
  CHECK(payers.ids.size() > 8);
  CHECK(first.keys == payers.paid());  // what was paid is known, and what is known was paid
  CHECK(first.keys.size() + first.failures.size() == payers.ids.size());
  std::vector<std::string> complaints = payers.refusals;
  complaints.insert(complaints.end(), first.failures.begin(), first.failures.end());
  CHECK(!complaints.empty());  // or there were enough of them, and nothing was tried
  for (const std::string& said : complaints) {
    CHECK_MESSAGE(said.find("open files") != std::string::npos, said);
  }

  payers.refusals.clear();
  payers.run(5);  // and with enough of them all is well again
  const Outcomes then = outcomes_of(payers);
  CHECK(payers.refusals.empty());
  CHECK(then.failures.size() == first.failures.size());
  CHECK(then.keys == payers.paid());
}

}  // namespace
}  // namespace pawl
