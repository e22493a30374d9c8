#include "pawl/kernel/transcript.h"

#include <algorithm>

#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {
namespace {

TEST_CASE("a reply is read back with all its blocks, as they came") {
  TestRun run;
  const std::vector<Block> blocks = {ThinkingBlock{Content("hm"), "sig"}, says("a"),
                                     RawBlock{Content("[]")}, calls("pure")};
  run.replies(blocks);

  const Message message = run.transcript().at(1);

  CHECK(message.role == Role::assistant);
  CHECK(message.blocks == blocks);
}

TEST_CASE("a message is read back with what is attached to it") {
  TestRun run;
  MessageReceived message;
  message.text = Content("look");
  message.attachments = {{"image/png", "a.png", Content("bytes")}};
  run.takes(message);
  run.replies({says("I see")});

  const auto messages = run.transcript();
  const auto found = std::find_if(messages.begin(), messages.end(),
                                  [](const Message& one) { return !one.attachments.empty(); });

  REQUIRE(found != messages.end());
  CHECK(found->role == Role::user);
  CHECK(found->attachments == message.attachments);
}

TEST_CASE("results say whose they are and whether they are errors") {
  TestRun run;
  run.replies({calls("pure", "1"), calls("pure", "2")});
  run.finishes(kC2, "no", ToolEnd::failed);
  run.finishes(kC1, "yes");

  const auto messages = run.transcript();

  REQUIRE(messages.size() == 4);
  CHECK(messages[2].call == kC1);
  CHECK(messages[2].outcome == Message::Outcome::fine);
  CHECK(messages[3].call == kC2);
  CHECK(messages[3].outcome == Message::Outcome::error);
  CHECK(name(messages[3].role) == "tool");
}

TEST_CASE("an entry that points at the wrong record is damage") {
  TestRun run;
  run.replies({calls("pure")});
  const Record& reply = run.last();
  for (const Entry& entry : {Entry{EntryKind::input, 1, 0}, Entry{EntryKind::past, 1, 0},
                             Entry{EntryKind::message, 1, 0}, Entry{EntryKind::tool_result, 1, 1},
                             Entry{EntryKind::ceded, 1, 0}, Entry{EntryKind::note, 1, 7}}) {
    const auto message = message_of(entry, reply);
    REQUIRE(!message);
    CHECK(message.error().code == ErrorCode::corrupt);
    CHECK(message.error().message ==
          "record 1 (model_replied) holds no " + std::string(name(entry.kind)));
  }
  CHECK(!message_of({EntryKind::past, 0, 3}, run.records().at(0)));
  CHECK(!message_of({EntryKind::assistant, 0, 0}, run.records().at(0)));
}

TEST_CASE("the output is the last text that was written, even if calls came after it") {
  TestRun run;
  run.replies({says("first"), says("second"), says(""), calls("pure")});
  CHECK(run.output() == "second");
  run.finishes(kC1, "ok");
  run.replies({calls("pure", "2")});
  CHECK(run.output() == "second");
}

TEST_CASE("a call is found in the reply that asked for it") {
  TestRun run;
  run.replies({says("x"), calls("once", R"({"amount":1.0})")});
  const Call call = run->calls.at(0);

  const auto block = call_block(call, run.records().at(call.seq));

  REQUIRE(block);
  CHECK(block->input == Content(R"({"amount":1.0})"));
  CHECK(call_block(call, run.records().at(0)).error().message == "record 0 does not hold c1");
  Call astray = call;
  astray.index = 9;
  CHECK(!call_block(astray, run.records().at(call.seq)));
}

}  // namespace
}  // namespace pawl::testing
