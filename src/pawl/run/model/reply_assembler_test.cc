#include "pawl/run/model/reply_assembler.h"

#include <doctest/doctest.h>

#include "pawl/testing/stage/silent_tool_test.h"

namespace pawl {
namespace {

constexpr std::uint64_t kAllowedTokens = 5'000'000;  // more bytes than a reply may have

struct Desk {
  ToolRegistry tools = *ToolRegistry::make({});
  std::vector<std::tuple<Preview::Kind, std::uint64_t, std::string>> previews;
  ReplyAssembler reply{tools,
                       [this](Preview::Kind kind, std::uint64_t offset, std::string text) {
                         previews.emplace_back(kind, offset, std::move(text));
                       },
                       kAllowedTokens};
  Ingress ingress;
  CallModel call;

  Desk() {
    call.effect = EffectId{4};
    call.reserved = Usage{10, 20, 30, 40};
  }
  Event ended(PhaseDone end) {
    CHECK(reply.add(std::move(end)));
    return reply.take(call, ingress);
  }
};

TEST_CASE("what an executor did with its own tools is kept, and is no call") {
  Desk desk;
  CHECK_FALSE(desk.reply.add(
      NativeToolResult{"Bash", "a\xFF", NativeToolResult::Outcome::error, R"({"command":"ls"})"}));
  CHECK_FALSE(desk.reply.add(TextDelta{"Done."}));
  const Event event = desk.ended({PhaseReplied{ReplyStop::end_turn, "", "m", ""}});
  const auto* replied = std::get_if<ModelReplied>(&event);
  REQUIRE(replied != nullptr);
  REQUIRE(replied->blocks.size() == 2);
  CHECK(replied->blocks[0] ==
        Block(RawBlock{Content("{\"type\":\"native_tool_result\",\"tool\":\"Bash\",\"input\":"
                               "\"{\\\"command\\\":\\\"ls\\\"}\",\"content\":\"a\xEF\xBF\xBD\","
                               "\"outcome\":\"error\"}")}));
}

TEST_CASE("a reply has its blocks in the order in which they came, with all that was said") {
  Desk desk;
  for (PhaseExecutorEvent event : std::vector<PhaseExecutorEvent>{
           SessionStarted{"s1"}, ThinkingDelta{"hm", ""}, ThinkingDelta{"m", "signed"},
           TextDelta{"one "}, TextDelta{"two"}, RawProduced{"{\"a\":1}"}, ToolInputDelta{"{\"n\""},
           ToolCallProposed{"pay", "{\"n\":1.0}", "id7"}, TextDelta{"three"},
           UsageReported{{1, 1, 0, 0}}, UsageReported{{7, 8, 0, 0}}}) {
    CHECK_FALSE(desk.reply.add(std::move(event)));
  }

  const Event event = desk.ended({PhaseReplied{ReplyStop::tool_use, "why", "m", "{}"}});

  ModelReplied expected;
  expected.effect = EffectId{4};
  CallBlock call;
  call.tool = "pay";
  call.input = Content("{\"n\":1.0}");
  call.provider_id = "id7";
  expected.blocks = {ThinkingBlock{Content("hmm"), "signed"}, TextBlock{Content("one two")},
                     RawBlock{Content("{\"a\":1}")}, call, TextBlock{Content("three")}};
  expected.usage = {7, 8, 0, 0};
  expected.stop = ReplyStop::tool_use;
  expected.stop_detail = "why";
  expected.stop_metadata = "{}";
  expected.model = "m";
  expected.session = "s1";
  CHECK(std::get<ModelReplied>(event) == expected);
  CHECK(desk.reply.text() == "one twothree");
}

TEST_CASE("previews say of which kind they are and where their text begins, each for itself") {
  using Kind = Preview::Kind;
  Desk desk;
  desk.reply.add(TextDelta{"abc"});
  desk.reply.add(ThinkingDelta{"12345", ""});
  desk.reply.add(TextDelta{"de"});
  desk.reply.add(ThinkingDelta{"6", ""});
  desk.reply.add(ToolInputDelta{"xy"});
  desk.reply.add(ToolInputDelta{"z"});
  const std::vector<std::tuple<Kind, std::uint64_t, std::string>> expected = {
      {Kind::text, 0, "abc"},   {Kind::thinking, 0, "12345"}, {Kind::text, 3, "de"},
      {Kind::thinking, 5, "6"}, {Kind::tool_input, 0, "xy"},  {Kind::tool_input, 2, "z"}};
  CHECK(desk.previews == expected);
}

TEST_CASE("an outcome without a word on usage is charged what was reserved, whatever it is") {
  const Usage reserved{10, 20, 30, 40};
  Desk speaking;
  speaking.reply.add(TextDelta{"x"});
  CHECK(std::get<ModelReplied>(speaking.ended({PhaseReplied{}})).usage == reserved);
  CHECK(std::get<ModelFailed>(Desk().ended({PhaseFailed{}})).usage == reserved);
  CHECK(std::get<ModelAborted>(Desk().ended({PhaseAborted{}})).usage == reserved);
}

TEST_CASE("failures and aborts keep what was said about them, and what they used") {
  Desk failing;
  failing.reply.add(TextDelta{"half a sen"});
  failing.reply.add(UsageReported{{1, 2, 3, 4}});
  const Event failed = failing.ended({PhaseFailed{ErrorCategory::timeout, "too slow", 2'500}});
  CHECK(std::get<ModelFailed>(failed) ==
        ModelFailed{kRootInstance, EffectId{4}, ErrorCategory::timeout, "too slow", 2'500,
                    Usage{1, 2, 3, 4}, FailureKind::transient, Presence::present});
  Desk aborting;
  aborting.reply.add(UsageReported{{1, 2, 3, 4}});
  const Event aborted = aborting.ended({PhaseAborted{}});
  CHECK(std::get<ModelAborted>(aborted) ==
        ModelAborted{kRootInstance, EffectId{4}, Usage{1, 2, 3, 4}});
}

TEST_CASE("a reply without a word is a failure of its own kind; one with a call is not") {
  Desk silent;
  silent.reply.add(ThinkingDelta{"hm", "sig"});
  silent.reply.add(TextDelta{" \n"});
  CHECK(std::get<ModelFailed>(silent.ended({PhaseReplied{}})).kind == FailureKind::empty);
  Desk calling;
  calling.reply.add(ToolCallProposed{"note", "{}", "p1"});
  CHECK(std::holds_alternative<ModelReplied>(calling.ended({PhaseReplied{}})));
}

TEST_CASE("a signature ends a block of thoughts") {
  Desk desk;
  desk.reply.add(ThinkingDelta{"one", "s1"});
  desk.reply.add(ThinkingDelta{"two", "s2"});
  desk.reply.add(TextDelta{"x"});
  const Event event = desk.ended({PhaseReplied{}});
  CHECK(std::get<ModelReplied>(event).blocks.size() == 3);
}

TEST_CASE("a reply that is too large fails, whatever its executor calls it, and stays bounded") {
  Desk desk;
  desk.reply.add(TextDelta{std::string(kReplyBytesMax, 'x')});
  CHECK_FALSE(desk.reply.too_large());
  desk.reply.add(TextDelta{"y"});
  CHECK(desk.reply.too_large());
  CHECK(desk.reply.text().size() == kReplyBytesMax);
  const Event event = desk.ended({PhaseReplied{}});
  REQUIRE(std::holds_alternative<ModelFailed>(event));
  CHECK(std::get<ModelFailed>(event).category == ErrorCategory::validation_error);
}

TEST_CASE("Y4: a stream is cut that says more than it was allowed to, and is paid for") {
  const ToolRegistry tools = *ToolRegistry::make({});
  ReplyAssembler reply(tools, [](Preview::Kind, std::uint64_t, const std::string&) {}, 10);
  const std::uint64_t most = 10 * kBytesPerTokenMax + kBeyondCapBytesMax;
  reply.add(ThinkingDelta{std::string(100, 't'), ""});
  reply.add(ToolInputDelta{std::string(100, 'i')});
  reply.add(TextDelta{std::string(most - 200, 'x')});
  CHECK_FALSE(reply.beyond_cap());
  reply.add(TextDelta{"x"});
  CHECK(reply.beyond_cap());
  reply.add(UsageReported{{7, 1, 0, 0}});
  CHECK(reply.add(PhaseDone{PhaseAborted{}}));

  Ingress ingress;
  const Event event = reply.take(CallModel{}, ingress);
  const auto* replied = std::get_if<ModelReplied>(&event);
  REQUIRE(replied != nullptr);
  CHECK(replied->stop == ReplyStop::max_tokens);
  CHECK(replied->stop_detail == "cut off: more than the 10 tokens that were allowed");
  CHECK(replied->usage.input_tokens == 7);
  CHECK(replied->usage.output_tokens > most / 8);
  CHECK(replied->blocks.size() == 2);
}

TEST_CASE(
    "a long reply that its provider has ended is taken as it is, and without a cap none is cut") {
  const ToolRegistry tools = *ToolRegistry::make({});
  for (const std::uint64_t allowed : {0U, 10U}) {
    ReplyAssembler reply(tools, [](Preview::Kind, std::uint64_t, const std::string&) {}, allowed);
    reply.add(TextDelta{std::string(100'000, 'x')});
    CHECK(reply.beyond_cap() == (allowed > 0));
    reply.add(PhaseDone{PhaseReplied{}});
    Ingress ingress;
    const Event event = reply.take(CallModel{}, ingress);
    REQUIRE(std::holds_alternative<ModelReplied>(event));
    CHECK(std::get<ModelReplied>(event).stop == ReplyStop::end_turn);
  }
}

TEST_CASE("Y4: whole calls count for the cap, what tools of a provider have found does not") {
  const ToolRegistry tools = *ToolRegistry::make({});
  const std::string large(100'000, 'x');
  ReplyAssembler reply(tools, [](Preview::Kind, std::uint64_t, const std::string&) {}, 10);
  reply.add(RawProduced{"\"" + large + "\""});
  reply.add(NativeToolResult{"Bash", large, NativeToolResult::Outcome::fine, "{}"});
  CHECK_FALSE(reply.beyond_cap());
  reply.add(ToolCallProposed{"pay", large, "id"});
  CHECK(reply.beyond_cap());
}

TEST_CASE("a reply of too many blocks is too large as well") {
  Desk desk;
  for (std::size_t i = 0; i <= kBlocksPerReplyMax; ++i) desk.reply.add(RawProduced{"1"});
  CHECK(desk.reply.too_large());
}

TEST_CASE("arguments are held against the schema of their tool") {
  Desk desk;
  desk.tools = *ToolRegistry::make({silent_tool("strict")});
  desk.reply.add(ToolCallProposed{"strict", "{}", ""});
  desk.reply.add(ToolCallProposed{"strict", "[1]", ""});
  const Event event = desk.ended({PhaseReplied{}});
  const auto& blocks = std::get<ModelReplied>(event).blocks;
  CHECK(std::get<CallBlock>(blocks[0]).fault.empty());
  CHECK_FALSE(std::get<CallBlock>(blocks[1]).fault.empty());
}

TEST_CASE("after its end a phase says nothing more") {
  Desk desk;
  desk.reply.add(TextDelta{"all"});
  CHECK(desk.reply.add(PhaseDone{PhaseReplied{}}));
  CHECK_FALSE(desk.reply.add(TextDelta{" but this"}));
  CHECK_FALSE(desk.reply.add(PhaseDone{PhaseFailed{}}));
  const Event event = desk.reply.take(desk.call, desk.ingress);
  CHECK(std::get<ModelReplied>(event).blocks == std::vector<Block>{TextBlock{Content("all")}});
}

TEST_CASE("text that is no UTF-8 is made so, and large contents become blobs") {
  Desk desk;
  desk.reply.add(
      TextDelta{"a\xff"
                "b"});
  desk.reply.add(ToolCallProposed{"t", std::string(10'000, ' '), ""});
  const Event event = desk.ended({PhaseReplied{}});
  const auto& blocks = std::get<ModelReplied>(event).blocks;
  CHECK(blocks[0] == Block{TextBlock{Content("a\xEF\xBF\xBD"
                                             "b")}});
  const std::vector<StoredBlob> blobs = desk.ingress.take_blobs();
  REQUIRE(blobs.size() == 1);
  CHECK(std::get<CallBlock>(blocks[1]).input.blob()->digest == blobs[0].digest);
}

}  // namespace
}  // namespace pawl
