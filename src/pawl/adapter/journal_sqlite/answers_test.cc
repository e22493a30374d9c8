#include "pawl/adapter/journal_sqlite/answers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pawl/adapter/journal_sqlite/watch_choice.h"
#include "tests/support/test_loop.h"

namespace pawl::sqlite {
namespace {

using std::chrono::microseconds;

struct Stage {
  explicit Stage(Answers::Watching watching = Answers::Watching::always)
      : answers(std::make_unique<Answers>(loop, order, watching)) {}

  Group group(const std::string& name, Status outcome = ok()) {
    Job job;
    job.run = name;
    order.enter(name);
    job.done = [this, name](const Status& status) { seen.push_back(name + (status ? "" : "!")); };
    Group one;
    one.push_back(answers->new_entry(std::move(job)));
    one.front()->outcome = std::move(outcome);
    return one;
  }

  TestLoop loop;
  AppendOrder order;
  std::vector<std::string> seen;
  std::unique_ptr<Answers> answers;
};

using Names = std::vector<std::string>;

// So many rounds of that length, each way as it is tried.
void note(WatchChoice& choice, std::size_t rounds, microseconds length) {
  for (std::size_t i = 0; i < rounds; ++i) choice.note(length);
}

}  // namespace

TEST_CASE("groups are answered in order, whether the loop watches or not") {
  Stage stage;
  stage.answers->give(stage.group("a"));
  stage.answers->expect(Answers::kWatchedJobsMin);
  CHECK(stage.answers->is_watching());
  stage.answers->give(stage.group("b", Error{ErrorCode::conflict, "no"}));
  std::thread([&stage, last = stage.group("c")]() mutable {
    stage.answers->give(std::move(last));
  }).join();
  CHECK(stage.seen.empty());  // never from inside
  REQUIRE(stage.loop.run_until([&] { return stage.seen.size() == 3; }));

  CHECK(stage.seen == Names{"a", "b!", "c"});
  CHECK_FALSE(stage.answers->is_watching());
  CHECK_FALSE(stage.order.has_waiting("a"));
  stage.answers->give(stage.group("d"));
  REQUIRE(stage.loop.run_until([&] { return stage.seen.size() == 4; }));
}

TEST_CASE("a loop that watches in vain goes to sleep, and is woken") {
  Stage stage;
  stage.answers->expect(Answers::kWatchedJobsMin);
  stage.loop.run_posted();
  CHECK_FALSE(stage.answers->is_watching());
  CHECK(stage.seen.empty());
  stage.answers->give(stage.group("late"));
  stage.loop.run_posted();
  CHECK(stage.seen == Names{"late"});
}

TEST_CASE("a small round is not watched for, nor what nothing is known of yet") {
  Stage always;
  always.answers->expect(Answers::kWatchedJobsMin - 1);
  CHECK_FALSE(always.answers->is_watching());
  Stage stage(Answers::Watching::where_it_pays);
  stage.answers->expect(Answers::kWatchedJobsMin);
  CHECK_FALSE(stage.answers->is_watching());
}

TEST_CASE("what a job held is freed when what its answer led to has been done") {
  Stage stage;
  const auto held = std::make_shared<int>(1);
  Group group = stage.group("a");
  group.front()->job.done = [held](const Status&) {};
  const Entry* const entry = group.front().get();
  stage.answers->give(std::move(group));
  stage.loop.run_posted();
  CHECK(held.use_count() == 1);
  CHECK(stage.answers->new_entry({}).get() == entry);  // filled again
}

TEST_CASE("a large group is answered in parts, a callback each, and in its order") {
  constexpr std::size_t kJobs = 3 * Answers::kAnsweredAtOnce + 1;
  Stage stage;
  Group large;
  Names names;
  for (std::size_t i = 0; i < kJobs; ++i) {
    names.push_back(std::to_string(i));
    large.push_back(std::move(stage.group(names.back()).front()));
  }
  SUBCASE("posted") {}
  SUBCASE("watched for") {
    stage.answers->expect(Answers::kWatchedJobsMin);
  }
  stage.answers->give(std::move(large));
  stage.answers->give(stage.group("behind"));
  names.emplace_back("behind");
  std::size_t before = 0;
  std::size_t most = 0;
  REQUIRE(stage.loop.run_until([&] {
    const std::size_t now = stage.seen.size();
    most = std::max(most, now - std::exchange(before, now));
    return now == names.size();
  }));

  CHECK(most == Answers::kAnsweredAtOnce);
  CHECK(stage.seen == names);
  CHECK(stage.answers->times_answered() >= 4);
}

TEST_CASE("what was written is told before whoever wrote it is, and once") {
  Stage stage;
  stage.answers->on_written(
      [&](const Written& one) { stage.seen.push_back("row " + std::to_string(one.row)); });
  Group group = stage.group("a");
  group.front()->written = Written{1, 7, 0, 41, 100};
  group.push_back(std::move(stage.group("work").front()));
  stage.answers->give(std::move(group));
  stage.loop.run_posted();
  CHECK(stage.seen == Names{"row 41", "a", "work"});
  CHECK_FALSE(stage.answers->new_entry({})->written);  // filled again
}

TEST_CASE("a callback in the middle of the parts may be the end of all") {
  Stage stage;
  Group large;
  for (std::size_t i = 0; i < 2 * Answers::kAnsweredAtOnce; ++i) {
    large.push_back(std::move(stage.group(std::to_string(i)).front()));
  }
  large[Answers::kAnsweredAtOnce + 1]->job.done = [&stage](const Status&) {
    stage.answers->close();
    stage.answers.reset();
  };
  stage.answers->give(std::move(large));
  stage.loop.run_posted();
  CHECK(stage.answers == nullptr);
  CHECK(stage.seen.size() == Answers::kAnsweredAtOnce + 1);
}

TEST_CASE("when closed nobody is called, and nothing is freed by the thread that answers") {
  Stage stage;
  const auto held = std::make_shared<int>(1);
  Group group = stage.group("b");
  group.front()->job.done = [held](const Status&) {};
  stage.answers->give(stage.group("a"));
  stage.answers->expect(Answers::kWatchedJobsMin);
  stage.answers->close();
  stage.answers->give(std::move(group));
  stage.loop.run_posted();
  CHECK(stage.seen.empty());
  CHECK(held.use_count() == 2);
  stage.answers.reset();
  CHECK(held.use_count() == 1);
}

TEST_CASE("a callback may be the end of all") {
  Stage stage;
  Group group = stage.group("a");
  group.front()->job.done = [&stage](const Status&) {
    stage.answers->close();
    stage.answers.reset();
  };
  Group behind = stage.group("b");
  group.push_back(std::move(behind.front()));
  SUBCASE("posted") {}
  SUBCASE("watched for") {
    stage.answers->expect(Answers::kWatchedJobsMin);
  }
  stage.answers->give(std::move(group));
  stage.loop.run_posted();
  CHECK(stage.answers == nullptr);
  CHECK(stage.seen.empty());
}

TEST_CASE("the loop stays awake only where rounds are shorter by it") {
  constexpr std::size_t kTried = WatchChoice::kTriedRounds;
  WatchChoice choice;
  CHECK_FALSE(choice.watches());
  note(choice, kTried - 1, microseconds(900));
  choice.note(microseconds(90'000));  // the log was written back: of no importance
  CHECK(choice.watches());
  SUBCASE("it pays") {
    note(choice, kTried, microseconds(850));
    CHECK(choice.watches());
    note(choice, WatchChoice::kKeptRounds - 1, microseconds(5'000));
    CHECK(choice.watches());
    choice.note(microseconds(850));
    CHECK_FALSE(choice.watches());  // tried again
  }
  SUBCASE("it hardly makes a difference") {
    note(choice, kTried, microseconds(870));
    CHECK_FALSE(choice.watches());
    note(choice, WatchChoice::kKeptRounds + kTried, microseconds(900));
    CHECK(choice.watches());  // tried again
  }
}

}  // namespace pawl::sqlite
