// A run in a store that waits because its provider asked for a pause.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "pawl/journal/run_summary.h"
#include "pawl/kernel/codec.h"
#include "pawl/kernel/kernel.h"
#include "pawl/testing/journal_memory/journal_memory.h"

namespace pawl {

inline constexpr std::uint64_t kPauseMs = 120'000;

// Its provider asked at `at_ms`.
struct PausedRun {
  Run run;
  Digest chain;
  MemoryJournal& journal;
  std::int64_t at_ms;

  void then(Event event) {
    auto record = advance(run, std::move(event), {1, at_ms, 0});
    REQUIRE_MESSAGE(record, record.error().message);
    Append append;
    append.run = run->id;
    append.epoch = 1;
    append.seq = record->seq;
    append.bytes = encode_record(*record);
    if (record->seq == 0) chain = chain_origin(run->id);
    append.chain = chain = chain_after(chain, append.bytes);
    append.summary = summary_of(run.state());
    journal.append(std::move(append), [](const Status& status) { CHECK(status); });
  }
};

inline void write_paused(MemoryJournal& journal, const std::string& id, std::int64_t at_ms) {
  PausedRun paused{{}, {}, journal, at_ms};
  RunStarted start;
  start.run = RunId{id};
  start.name = start.node = "test";
  start.model = "scripted";
  start.input = Content("hello");
  paused.then(start);
  ModelFailed failed;
  failed.effect = paused.run->open.front().id;
  failed.kind = FailureKind::rate_limited;
  failed.retry_after_ms = kPauseMs;
  paused.then(failed);
  paused.then(RunWaiting{});
}

}  // namespace pawl
