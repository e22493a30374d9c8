// Messages in the last moments of many runs, from another process's view of the store: what was
// accepted is in the run's journal. PAWL_LAST_RUNS=10000 is for the nightly run.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "pawl/adapter/journal_sqlite/journal_sqlite.h"
#include "pawl/kernel/codec.h"
#include "pawl/service/service.h"
#include "pawl/testing/executor_scripted/executor_scripted.h"
#include "tests/support/temp_directory.h"
#include "tests/support/test_loop.h"

namespace pawl {
namespace {

constexpr int kRunsDefault = 150;
constexpr int kMessagesEach = 6;  // so long somebody goes on writing, whatever he is told

RunId run_of(int number) {
  return RunId{"r" + std::to_string(number)};
}

std::string text_of(int run, int message) {
  return "message " + std::to_string(message) + " to " + run_of(run).text;
}

int runs_wanted() {
  const char* const given = std::getenv("PAWL_LAST_RUNS");
  return given == nullptr ? kRunsDefault : std::max(1, std::atoi(given));
}

// Writes to the run that ends just now, as fast as it can.
class Sender {
 public:
  Sender(const std::string& directory, int runs) : accepted_(static_cast<std::size_t>(runs) + 1) {
    thread_ = std::thread([this, directory] { send(directory); });
    while (state == State::opening) std::this_thread::yield();
  }
  ~Sender() { stop(); }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  void stop() {
    run = -1;
    if (thread_.joinable()) thread_.join();
  }
  const std::vector<int>& accepted(int of) const { return accepted_[static_cast<std::size_t>(of)]; }

  enum class State : std::uint8_t { opening, open, refused };
  std::atomic<State> state{State::opening};
  std::atomic<int> run{0};  // 0: none yet; -1: no more

 private:
  void send(const std::string& directory) {
    TestLoop loop(TestLoop::Clock::machine);
    const auto opened = SqliteJournal::open(directory, loop);
    state = opened ? State::open : State::refused;
    if (!opened) return;
    int before = 0;
    int sent = 0;
    for (int to = run; to >= 0; to = run) {
      if (to != before) sent = 0;
      before = to;
      if (to == 0 || sent == kMessagesEach) {
        std::this_thread::yield();
        continue;
      }
      std::optional<Status> told;
      const Event event = MessageReceived{kRootInstance, Content(text_of(to, sent)), "sender"};
      (*opened)->post(run_of(to), 1, encode_event(event), [&](Status status) { told = status; });
      if (!loop.run_until([&] { return told.has_value(); })) return;
      if (*told) {
        accepted_[static_cast<std::size_t>(to)].push_back(sent++);
      } else {  // Not there yet, or over. Who never lets go of the store starves the run.
        const std::int64_t until_ms = loop.monotonic_ms() + 1;
        loop.run_until([&] { return loop.monotonic_ms() >= until_ms || run != to; }, 1);
      }
    }
  }

  std::vector<std::vector<int>> accepted_;
  std::thread thread_;
};

TEST_CASE("no message that was accepted in the last moment of a run is lost") {
  const TempDirectory directory;
  TestLoop loop(TestLoop::Clock::machine);
  const auto journal = SqliteJournal::open(directory / "data", loop);
  REQUIRE(journal);
  SqliteJournal* const store = journal->get();
  Engine engine(EngineOptions{loop, {store, store, store, store}, {}, {}, "test"});
  Service service(engine);
  int ended = 0;
  engine.on_ended([&](const RunId&, const Status& status) {
    CHECK_MESSAGE(status, (status ? "" : status.error().message));
    ++ended;
  });
  const int runs = runs_wanted();
  Sender sender(directory / "data", runs);
  REQUIRE(sender.state == Sender::State::open);
  for (int number = 1; number <= runs; ++number) {
    PreparedAgent agent;
    agent.charter.name = "last";
    agent.charter.instructions = "Go.";
    agent.charter.model = "scripted";
    Script script;
    for (int i = 0; i <= kMessagesEach + 1; ++i) script.replies.push_back(ScriptReply::say("yes"));
    agent.executor = make_scripted_executor(script, loop);
    service.start({std::move(agent), "go", run_of(number), nullptr},
                  [](const Result<RunId>& accepted) { CHECK(accepted); });
    sender.run = number;
    REQUIRE(loop.run_until([&] { return ended == number; }));
  }
  sender.stop();
  int accepted = 0;
  for (int number = 1; number <= runs; ++number) {
    std::string received;
    JournalWalker walker(*store, run_of(number));
    REQUIRE(walker.walk([&](const Record& record, const Run&) {
      const auto* message = std::get_if<MessageReceived>(&record.event);
      if (message != nullptr) received += *message->text.bytes() + "\n";
      return true;
    }));
    CHECK(std::holds_alternative<Finished>(walker.loaded().run->life));
    CHECK(store->pending(run_of(number))->empty());
    std::string told;
    for (const int message : sender.accepted(number)) told += text_of(number, message) + "\n";
    CHECK(received == told);
    accepted += static_cast<int>(sender.accepted(number).size());
  }
  MESSAGE(accepted << " messages were accepted by " << runs << " runs");
  CHECK(accepted > 0);
}

}  // namespace
}  // namespace pawl
