#include "pawl/words.h"

#include <doctest/doctest.h>

#include <set>

#include "pawl/kernel/decisions.h"
#include "pawl/kernel/run.h"
#include "pawl/kernel/transcript.h"

namespace pawl {
namespace {

// Every value of the vocabulary has a name of its own.
template <class E>
void check_names() {
  std::set<std::string_view> names;
  for (std::uint8_t i = 0; i < kCount<E>; ++i) names.insert(name(static_cast<E>(i)));
  CHECK(names.size() == kCount<E>);
}

TEST_CASE("every word of every vocabulary has a name of its own") {
  check_names<YieldReason>();
  check_names<ErrorCategory>();
  check_names<ReplyStop>();
  check_names<RunStatus>();
  check_names<WaitFor>();
  check_names<StopReason>();
  check_names<HookPoint>();
  check_names<HookVerdict>();
  check_names<Origin>();
  check_names<EffectClass>();
  check_names<OnDoubt>();
  check_names<Speaker>();
  check_names<Presence>();
  check_names<ToolEnd>();
  check_names<StatusAnswer>();
  check_names<DoubtVerdict>();
  check_names<RefusedBecause>();
  check_names<HeldFor>();
  check_names<Note>();
  check_names<EntryKind>();
  check_names<WrapUp>();
  check_names<EffectKind>();
  check_names<Parked>();
}

TEST_CASE("the eight yield reasons have the names that everything else uses") {
  std::string all;
  for (std::uint8_t i = 0; i < 8; ++i) all += std::string(name(static_cast<YieldReason>(i))) + " ";
  CHECK(all == "end_turn tool_use max_tokens cede command suspend awaiting_resume external ");
}

TEST_CASE("error categories are read in both spellings, and are stop reasons of the same name") {
  for (std::uint8_t i = 0; i < kCount<ErrorCategory>; ++i) {
    const auto category = static_cast<ErrorCategory>(i);
    CHECK(*parse_error_category(name(category)) == category);
    CHECK(name(stop_reason_of(category)) == name(category));
  }
  CHECK(*parse_error_category("LlmError") == ErrorCategory::llm_error);
  CHECK(*parse_error_category("QuotaExceeded") == ErrorCategory::quota_exceeded);
  CHECK(!parse_error_category("oops"));
  CHECK(!parse_error_category(""));
}

TEST_CASE("a run is over in five of its statuses, by value and by name") {
  std::string over;
  for (std::uint8_t i = 0; i < kCount<RunStatus>; ++i) {
    const auto status = static_cast<RunStatus>(i);
    CHECK(is_terminal(status) == is_terminal(name(status)));
    if (is_terminal(status)) over += std::string(name(status)) + " ";
  }
  CHECK(over == "done stopped failed cancelled quarantined ");
  CHECK(!is_terminal(""));
  CHECK(!is_terminal("over"));
}

TEST_CASE("reply stops are read by name") {
  for (std::uint8_t i = 0; i < kCount<ReplyStop>; ++i) {
    const auto stop = static_cast<ReplyStop>(i);
    CHECK(*parse_reply_stop(name(stop)) == stop);
  }
  CHECK(!parse_reply_stop("stop"));
}

}  // namespace
}  // namespace pawl
