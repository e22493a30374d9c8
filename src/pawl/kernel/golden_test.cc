// Journals that were written once must be readable for ever: tests/golden/journal-v2 holds them.
// PAWL_WRITE_GOLDEN=1 writes them anew, which is right only while the format is unreleased.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "pawl/kernel/golden_agents_test.h"
#include "pawl/kernel/golden_flow_test.h"
#include "pawl/kernel/golden_machine_test.h"
#include "pawl/kernel/random_history_test.h"
#include "pawl/kernel/rules.h"
#include "pawl/kernel/scenario_test.h"
#include "pawl/kernel/source_test.h"

namespace pawl::testing {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

std::string to_hex_text(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    text += {kHexDigits[byte >> 4U], kHexDigits[byte & 15U]};
  }
  return text;
}

std::string from_hex_text(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(
        static_cast<char>(kHexDigits.find(text[i]) * 16 + kHexDigits.find(text[i + 1])));
  }
  return bytes;
}

// --- The journals -------------------------------------------------------------------------------

TestRun tools_of_every_class() {
  RunStarted start = a_start();
  start.run = RunId{"golden-tools"};
  start.started_by = "ann";
  start.charter_digest = sha256("charter");
  start.charter = Content("name: golden\n");
  start.directory = "charters";
  start.prices = {"EUR", 3'000'000, 15'000'000, 300'000, 3'750'000};
  start.variables = {{"branch", "main"}};
  start.history = {{Speaker::user, Content("hi")}, {Speaker::assistant, Content("hello")}};
  TestRun run(start);
  ModelReplied reply = run.reply(
      {ThinkingBlock{Content("hm"), "sig"}, says("let me"), calls("pure", R"({"n":1.0})"),
       calls("idem", "[]"), calls("recon", "{}"), calls("once", R"({"amount":1})"),
       calls("tell", "{}"), calls("nope", "{}"), calls_wrongly("once", "/amount: missing")});
  reply.usage = {1000, 50, 20, 10};
  reply.model = "scripted/a";
  reply.session = "session-1";
  run.later(1234).takes(reply);
  run.later(1).finishes(kC1, "one");
  run.crashes();
  run.learns(kC3, StatusAnswer::unknown);
  run.finishes(kC2, "two");
  run.parks();
  run.later(86'400'000).resolves(kC3, DoubtVerdict::happened, "three");
  run.resolves(CallId{4}, DoubtVerdict::did_not_happen);
  ToolFinished blob = run.finish(CallId{4}, "");
  blob.content = Content(BlobRef{sha256("large"), 70'000});
  blob.content_length = 1'000'000;
  run.takes(blob);
  run.replies({RawBlock{Content(R"({"type":"server_tool_use"})")}, says("all done")});
  run.ends();
  return run;
}

TestRun people() {
  RunStarted start = a_start();
  start.run = RunId{"golden-people"};
  TestRun run(start);
  run.hears("one thing");
  run.pauses();
  run.takes(ModelAborted{kRootInstance, run.model_effect(), tokens(7)});
  run.parks();
  run.crashes();
  run.later(1000).resumes();
  run.fails(ErrorCategory::llm_error, 2000);
  run.later(2000).ticks();
  run.pauses();
  run.replies({calls("once")});
  run.resumes();
  run.finishes(kC1, "denied", ToolEnd::denied);
  run.replies({says("half")}, ReplyStop::max_tokens);
  run.replies({says("done")});
  run.hears("not yet");
  run.takes(CancelRequested{"ann", "changed my mind"});
  run.later(rules_of(kSemantics).ending_grace_ms).ticks();
  run.ends();
  return run;
}

TestRun yields() {
  RunStarted start = a_start();
  start.run = RunId{"golden-yields"};
  start.forked_from = ForkedFrom{RunId{"golden-parent"}, 7, sha256("parent"), {"input", "c3"}};
  TestRun run(start);
  ModelReplied hold = run.reply({says("hold")}, ReplyStop::suspend);
  hold.stop_detail = "key needed";
  hold.stop_metadata = R"({"key":"k"})";
  run.takes(hold);
  run.parks();
  run.takes(InstanceResumed{kRootInstance, "s1", "ann"});
  run.replies({says("you")}, ReplyStop::external);
  run.takes(ExternalTurnPushed{kRootInstance, {says("me"), calls("pure")}, tokens(3), "host"});
  run.spawns("helper");
  run.finishes(kC1, "ok");
  run.replies({says("waiting for help")});
  run.replies_as(InstanceId{2}, {says("helped")}, ReplyStop::cede);
  run.replies({says("bye")}, ReplyStop::cede);
  run.ends();
  return run;
}

TestRun callbacks() {
  RunStarted start = with_agent_callbacks();
  start.run = RunId{"golden-callbacks"};
  TestRun run(start);
  run.takes(AgentBegan{EffectId{1}, HookVerdict::proceed, {}, ""});
  run.takes(HookFailed{HookPoint::before_model, "threw"});
  run.replies({calls("recon"), calls("pure")});
  run.finishes(kC1, "", ToolEnd::timed_out);
  run.finishes(kC2, "", ToolEnd::timed_out);
  run.takes(ResultCameLate{kRootInstance, kC1, EffectId{3}, ToolEnd::succeeded, Content("late")});
  run.pauses();
  run.crashes();
  run.resumes();
  run.learns(kC1, StatusAnswer::done, "it was done");
  run.takes(HookStopped{HookPoint::after_tool, run.call_effect(kC2), "enough"});
  run.takes(RunFinished{run.effect_of(EffectKind::end_agent), Content("replaced")});
  return run;
}

TestRun stops() {
  RunStarted start = a_start();
  start.run = RunId{"golden-stops"};
  TestRun run(start);
  run.replies({calls("once"), calls("pure")});
  ToolFinished result = run.finish(kC1, "charged");
  result.callback_stop = "enough";
  run.takes(result);
  run.finishes(kC2, "", ToolEnd::aborted);
  run.ends();
  return run;
}

TestRun limits() {
  RunStarted start = a_start();
  start.run = RunId{"golden-limits"};
  start.tenant = "acme";
  start.limits = {3, UINT64_MAX, 10, 60'000, 1000, 100, 100, 1};
  start.guards = {0, 2, 2};
  start.retry = {2, 100, 1000};
  TestRun run(start);
  run.fails(ErrorCategory::network_error);
  run.later(100).ticks();
  run.replies({says("partial"), calls("pure")});
  run.finishes(kC1, "no", ToolEnd::failed);
  run.fails(ErrorCategory::timeout);
  run.later(100).ticks();
  run.fails(ErrorCategory::timeout);
  run.ends();
  return run;
}

TestRun models() {
  RunStarted start = a_start();
  start.run = RunId{"golden-models"};
  start.targets = {ModelTarget{"a/x", {"USD", 1, 5, 0, 2, 0, {{30, {3, 9, 0, 2, 0}}}}, 1'000, 200},
                   ModelTarget{"b/y", {"USD", 2, 6, 0, 0}, 800, 0}};
  start.limits.cost_pico = 20'000;
  start.base_tokens = 20;
  start.compaction.keep_messages = 1;
  start.attachments = {Attachment{"image/png", "a.png", Content("bytes")}};
  TestRun run(start);
  ModelFailed failure;
  failure.effect = run.model_effect();
  failure.message = "429";
  failure.usage = std::get<AwaitingModel>(run.instance().phase).reserved;
  failure.kind = FailureKind::rate_limited;
  run.takes(failure);
  failure.usage = {};
  failure.effect = run.model_effect();
  failure.retry_after_ms = 2 * kParkAfterMs;
  run.takes(failure);
  run.parks();
  run.later(2 * kParkAfterMs).crashes();
  for (int i = 0; i < 9 && run.in<AwaitingModel>(); ++i) {
    run.replies({calls("pure", std::to_string(i))});
    run.finishes(CallId{run->calls_minted}, std::string(400, 'x'));
  }
  CompactionFailed failed;
  failed.effect = run.effect_of(EffectKind::compact);
  failed.message = "down";
  run.takes(failed);
  for (int i = 9; i < 19 && run.in<AwaitingModel>(); ++i) {
    run.replies({calls("pure", std::to_string(i))});
    run.finishes(CallId{run->calls_minted}, std::string(400, 'x'));
  }
  ContextCompacted compacted;
  compacted.effect = run.effect_of(EffectKind::compact);
  compacted.summary = Content("so far so good");
  compacted.usage = tokens(700, 60'000);
  run.takes(compacted);
  REQUIRE(run.in<AwaitingBudget>());
  run.parks();
  run.takes(BudgetRaised{1'000'000, "ann"});
  ModelReplied answer = run.reply({says("[]")});
  answer.output_fault = "/ is not an object";
  answer.session = "s1";
  run.takes(answer);
  ModelFailed lost;
  lost.effect = run.model_effect();
  lost.kind = FailureKind::session_lost;
  run.takes(lost);
  run.replies({says("{}")});
  run.ends();
  run.takes(RunReopened{"ann", {}, Guards{5, 5, 5}, Content("and now?")});
  run.replies({says("{\"more\":1}")});
  run.ends();
  return run;
}

std::vector<std::string> encoded(const std::vector<Record>& records) {
  std::vector<std::string> journal;
  for (const Record& record : records) journal.push_back(encode_record(record));
  return journal;
}

// A later version wrote something in between that says it may be skipped.
std::vector<std::string> with_optional_event() {
  RunStarted start = a_start();
  start.run = RunId{"golden-future"};
  const TestRun run(start);
  std::vector<Record> records = run.records();
  Record foreign;
  foreign.minor = kRecordMinor + 1;
  foreign.seq = records.size();
  foreign.stamp = {1, -1, 5};
  foreign.event = Unrecognised{1000, "from a later version"};
  records.push_back(foreign);
  return encoded(records);
}

// Every verdict, every decision of people, a terminal tool.
TestRun permissions() {
  RunStarted start = a_start();
  start.run = RunId{"golden-permissions"};
  start.tools[0].ends_turn = EndsTurn::yes;
  TestRun run(start);
  CallJudgement ask;
  ask.verdict = CallVerdict::ask;
  ask.stage = GateStage::approval_policy;
  ask.rule = "always";
  ask.reason = "it costs money";
  ask.binding = sha256("pay 5");
  ask.expires_ms = 60'000;
  CallJudgement deny = ask;
  deny.verdict = CallVerdict::deny;
  deny.stage = GateStage::rule;
  run.replies({calls_judged("once", ask), calls_judged("idem", CallJudgement{}),
               calls_judged("recon", deny), calls_judged("tell", ask)});
  run.takes(CallJudged{kRootInstance, kC2, run.call_effect(kC2), deny});
  CallDecided decided;
  decided.call = kC1;
  decided.decision = InterruptDecision::approve;
  decided.binding = sha256("pay 5");
  decided.by = "ann";
  decided.answer = 7;
  decided.edited = Content(R"({"amount":4})");
  decided.granted = sha256("pay 4");
  run.later(10).takes(decided);
  run.finishes(kC1, "paid");
  run.later(60'000).ticks();
  run.replies({calls("pure")});
  ToolFinished last = run.finish(CallId{5}, "for the model");
  last.user_reply = Content("for you");
  last.level = "namespace";
  run.takes(last);
  run.ends();
  return run;
}

// What nobody would think of writing down: events of every sort, as chance brings them, up to about
// two kilobytes. With the journals above there are fifty.
std::vector<std::string> random_journal(std::uint64_t seed) {
  constexpr std::size_t kBytesMax = 1'900;
  constexpr int kEventsMax = 400;
  std::vector<std::string> journal;
  Run run;
  Rng rng(seed);
  Stamp now{1, 0, 0};
  std::size_t bytes = 0;
  for (int i = 0; i < kEventsMax && !std::holds_alternative<Finished>(run->life); ++i) {
    Event event = RandomHost(rng, run.state()).next();
    move_clock(rng, run.state(), event, now);
    const auto record = advance(run, event, now);
    if (!record) continue;
    std::string encoded = encode_record(*record);
    bytes += encoded.size();
    if (bytes > kBytesMax) break;
    journal.push_back(std::move(encoded));
  }
  return journal;
}

void add_random_journals(std::map<std::string, std::vector<std::string>>& journals) {
  constexpr std::size_t kJournals = 52;
  constexpr std::size_t kRecordsMin = 8;
  for (std::uint64_t seed = 1; journals.size() < kJournals; ++seed) {
    auto journal = random_journal(seed);
    if (journal.size() < kRecordsMin) continue;
    journals["random-" + std::to_string(seed)] = std::move(journal);
  }
}

std::map<std::string, std::vector<std::string>> all_journals() {
  return {{"tools", encoded(tools_of_every_class().records())},
          {"people", encoded(people().records())},
          {"yields", encoded(yields().records())},
          {"callbacks", encoded(callbacks().records())},
          {"stops", encoded(stops().records())},
          {"limits", encoded(limits().records())},
          {"models", encoded(models().records())},
          {"permissions", encoded(permissions().records())},
          {"machine", encoded(machine_that_fails().records())},
          {"machine-detached", encoded(machine_that_detaches().records())},
          {"agents-parent", encoded(run_with_children().records())},
          {"agents-child", encoded(run_beneath_another().records())},
          {"flow", encoded(flow_with_everything().records())},
          {"campaign", encoded(campaign_with_everything().records())},
          {"future", with_optional_event()}};
}

// --- The files: a line of hexadecimal digits a record, then the chain ---------------------------

std::string directory() {
  return source_directory() + "/tests/golden/journal-v2";
}

Digest chain_of(const std::vector<std::string>& journal) {
  const auto first = decode_record(journal.at(0));
  REQUIRE(first);
  Digest chain = chain_origin(std::get<RunStarted>(first->event).run);
  for (const std::string& bytes : journal) chain = chain_after(chain, bytes);
  return chain;
}

void write_file(const std::string& path, const std::vector<std::string>& journal) {
  std::ofstream file(path);
  for (const std::string& bytes : journal) file << to_hex_text(bytes) << "\n";
  file << "chain " << to_hex(chain_of(journal)) << "\n";
  REQUIRE(file.good());
}

struct GoldenFile {
  std::vector<std::string> journal;
  std::string chain;
};

GoldenFile read_file(const std::filesystem::path& path) {
  GoldenFile golden;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("chain ")) {
      golden.chain = line.substr(6);
    } else {
      golden.journal.push_back(from_hex_text(line));
    }
  }
  return golden;
}

std::vector<std::filesystem::path> golden_paths() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory())) {
    paths.push_back(entry.path());
  }
  return paths;
}

TEST_CASE("golden journals are written when that is asked for") {
  if (setting("PAWL_WRITE_GOLDEN", "").empty()) return;
  std::filesystem::create_directories(directory());
  auto journals = all_journals();
  add_random_journals(journals);
  for (const auto& [name, journal] : journals) {
    write_file(directory() + "/" + name + ".hex", journal);
  }
}

TEST_CASE("golden journals decode, fold and encode to the same bytes and the same chain") {
  REQUIRE(golden_paths().size() >= 50);
  for (const auto& path : golden_paths()) {
    CAPTURE(path.string());
    const GoldenFile golden = read_file(path);
    REQUIRE(!golden.journal.empty());
    CHECK(to_hex(chain_of(golden.journal)) == golden.chain);
    Run run;
    for (const std::string& bytes : golden.journal) {
      const auto record = decode_record(bytes);
      REQUIRE(record);
      CHECK(encode_record(*record) == bytes);
      REQUIRE(fold(run, *record));
    }
    CHECK(run->length == golden.journal.size());
  }
}

TEST_CASE("golden journals are decided again as they were") {
  for (const auto& path : golden_paths()) {
    CAPTURE(path.string());
    Run run;
    for (const std::string& bytes : read_file(path).journal) {
      const auto record = decode_record(bytes);
      REQUIRE(record);
      if (std::holds_alternative<Unrecognised>(record->event)) {
        REQUIRE(fold(run, *record));
        continue;
      }
      const auto again = advance(run, record->event, record->stamp);
      REQUIRE(again);
      CHECK(to_hex_text(encode_record(*again)) == to_hex_text(bytes));
    }
  }
}

TEST_CASE("the golden journals hold every type of event, decision and effect") {
  std::set<std::size_t> events;
  std::set<std::string> decisions;
  std::set<std::string> effects;
  for (const auto& path : golden_paths()) {
    for (const std::string& bytes : read_file(path).journal) {
      const auto record = decode_record(bytes);
      REQUIRE(record);
      events.insert(record->event.index());
      for (const Decision& one : record->decisions) decisions.emplace(name(one));
      for (const Effect& one : record->effects) effects.emplace(name(one));
    }
  }
  CHECK(events.size() == std::variant_size_v<Event>);
  CHECK(decisions.size() == std::variant_size_v<Decision>);
  CHECK(effects.size() == std::variant_size_v<Effect>);
}

}  // namespace
}  // namespace pawl::testing
