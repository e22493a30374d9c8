// Runs made event by event, without a driver.
#pragma once

#include <string>
#include <vector>

#include "pawl/journal/ingress.h"
#include "pawl/kernel/example_parts_test.h"
#include "pawl/testing/stage/run_stage_test.h"

namespace pawl {

struct RecordedRun {
  Run run;
  std::vector<Record> records;
  Ingress ingress;

  explicit RecordedRun(const std::string& id = "r") {
    RunStarted start = testing::a_start();
    start.run = RunId{id};
    start.targets = {ModelTarget{"scripted", {}, 1'000, 0}};
    start.compaction.keep_messages = 1;
    then(start);
  }
  void then(Event event) {
    auto record = advance(run, std::move(event), {1, TestLoop::kWallStartMs, 0});
    REQUIRE_MESSAGE(record, record.error().message);
    records.push_back(*std::move(record));
  }
  // The first effect of this kind that is under way.
  EffectId open(EffectKind kind) const {
    for (const OpenEffect& one : run->open) {
      if (one.kind == kind) return one.id;
    }
    return {};
  }
  void says(InstanceId instance, const std::string& text, ReplyStop stop = ReplyStop::pause_turn) {
    ModelReplied reply;
    reply.instance = instance;
    reply.effect = open(EffectKind::model);
    reply.blocks = {testing::says(text)};
    reply.stop = stop;
    then(reply);
  }
  void calls(const std::vector<std::string>& tools) {
    ModelReplied reply;
    reply.effect = open(EffectKind::model);
    for (const std::string& tool : tools) reply.blocks.push_back(testing::calls(tool));
    reply.stop = ReplyStop::tool_use;
    then(reply);
  }
  ToolFinished finished(CallId call, EffectId effect, const std::string& text, ToolEnd end) {
    ToolFinished event;
    event.call = call;
    event.effect = effect;
    event.content = ingress.keep(text);
    event.end = end;
    return event;
  }
  void write(MemoryJournal& journal, TestLoop& loop) const {
    write_journal(journal, loop, run->id, records);
  }
};

}  // namespace pawl
