#include "pawl/history/fork.h"

#include <doctest/doctest.h>

#include <set>

#include "pawl/testing/stage/recorded_run_test.h"
#include "tests/support/forwarding_reader.h"

namespace pawl {
namespace {

Script three_notes() {
  return scripted({ScriptReply::call("note", R"({"n":1})"), ScriptReply::call("note", R"({"n":2})"),
                   ScriptReply::call("note", R"({"n":3})"), ScriptReply::say("All noted.")});
}

struct Desk : RunStage {
  explicit Desk(Script replies = three_notes()) : RunStage(std::move(replies)) { start("p"); }

  Result<Forked> fork(ForkRequest request) {
    request.parent = RunId{"p"};
    request.by = "ann";
    std::optional<Result<Forked>> answer;
    service.fork(std::move(request), [&](Result<Forked> forked) { answer = std::move(forked); });
    loop.advance(300);
    REQUIRE(answer);
    return *std::move(answer);
  }
  static ForkRequest at(std::uint64_t step, const std::string& id = "f") {
    ForkRequest request;
    request.step = step;
    request.id = RunId{id};
    return request;
  }
  RunDetails show(const std::string& id) { return *service.show(RunId{id}); }
  template <class Fact>
  std::vector<Fact> events(const std::string& id) {
    std::vector<Fact> found;
    for (const Record& record : decoded(records(RunId{id}))) {
      if (const Fact* fact = std::get_if<Fact>(&record.event)) found.push_back(*fact);
    }
    return found;
  }
};

// A store of a process that dies after some appends: what is given to it later is lost.
class DyingJournal final : public Journal {
 public:
  DyingJournal(Journal& inner, std::size_t appends) : inner_(inner), left_(appends) {}
  Result<RunLease> acquire(const RunId& run) override { return inner_.acquire(run); }
  void append(Append append, StatusCallback done) override {
    if (left_ == 0) return;
    --left_;
    inner_.append(std::move(append), std::move(done));
  }
  Status quarantine(const RunId& run, const std::string& why) override {
    return inner_.quarantine(run, why);
  }

 private:
  Journal& inner_;
  std::size_t left_;
};

bool has_part(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a fork goes on from its step without repeating a call, and with keys of its own") {
  Desk desk;
  const std::set<std::string> before(desk.tool->keys.begin(), desk.tool->keys.end());
  REQUIRE(before.size() == 3);

  const auto forked = desk.fork(Desk::at(2));

  REQUIRE(forked);
  CHECK(desk.tool->keys.size() == 4);  // the third note, and it alone, is made by the fork
  CHECK(!before.contains(desk.tool->keys.back()));
  CHECK(desk.show("f").summary.status == "done");
  CHECK(desk.show("f").output == "All noted.");
  CHECK(desk.show("f").state.tally.steps == 4);
  CHECK(forked->inherited.tool_calls == 2);
  CHECK(replay(desk.journal, RunId{"f"})->same());
  CHECK(replay(desk.journal, RunId{"f"})->lineage == Lineage::confirmed);
  CHECK(replay(desk.journal, RunId{"p"})->same());
}

TEST_CASE("a fork pins where it comes from: run, record and chain") {
  Desk desk;
  const auto stored = desk.records(RunId{"p"});

  const auto forked = desk.fork(Desk::at(1));

  REQUIRE(forked);
  const RunStarted start = desk.events<RunStarted>("f").front();
  REQUIRE(start.forked_from);
  CHECK(*start.forked_from == forked->from);
  CHECK(start.forked_from->run == RunId{"p"});
  CHECK(start.forked_from->chain == stored[start.forked_from->seq].chain);
  CHECK(start.started_by == "ann");
  CHECK(desk.show("f").state.forked_from == start.forked_from);
  // Up to there both tell the same, and the next record is the fork's own.
  const auto told = decoded(desk.records(RunId{"f"}));
  const auto original = decoded(stored);
  for (std::uint64_t seq = 1; seq <= start.forked_from->seq; ++seq) {
    CHECK(told[seq].event == original[seq].event);
    CHECK(told[seq].decisions == original[seq].decisions);
  }
}

TEST_CASE("step 0 is the input alone") {
  Desk desk;

  REQUIRE(desk.fork(Desk::at(0)));

  CHECK(desk.tool->keys.size() == 6);
  CHECK(std::set<std::string>(desk.tool->keys.begin(), desk.tool->keys.end()).size() == 6);
  CHECK(desk.show("f").output == "All noted.");
}

TEST_CASE("edits change the prefix, and say so") {
  Desk desk;
  ForkRequest request = Desk::at(2);
  request.edits = {{"c2", std::string(9000, 'e')}, {"input", "stop"}};

  REQUIRE(desk.fork(request));

  CHECK(desk.events<RunStarted>("f").front().input == Content("stop"));
  CHECK(desk.events<RunStarted>("f").front().forked_from->edited ==
        std::vector<std::string>{"input", "c2"});
  const auto results = desk.events<ToolFinished>("f");
  REQUIRE(results.size() == 3);
  CHECK(results[0].origin == Origin::executor);
  CHECK(results[1].origin == Origin::person);
  CHECK(results[1].content.length() == 9000);
  CHECK(*desk.journal.blob(RunId{"f"}, results[1].content.digest()) == std::string(9000, 'e'));
  CHECK(replay(desk.journal, RunId{"f"})->same());
  // The original is as it was.
  CHECK(desk.events<RunStarted>("p").front().input == Content("go"));
  CHECK(replay(desk.journal, RunId{"p"})->same());
}

TEST_CASE("what is edited into a fork passes the filter of secrets") {
  struct Passing final : ByteStream {
    std::string feed(std::string_view piece) override { return std::string(piece); }
    std::string finish() override { return ""; }
  };
  struct Hiding final : ByteFilter {
    std::string ingress(std::string text) const override {
      const std::size_t at = text.find("hunter22");
      return at == std::string::npos ? text : text.replace(at, 8, "[[key]]");
    }
    std::string sink(std::string text) const override { return ingress(std::move(text)); }
    std::unique_ptr<ByteStream> stream() const override { return std::make_unique<Passing>(); }
  };
  Desk desk;
  Engine engine(EngineOptions{desk.loop,
                              {&desk.journal, &desk.journal, &desk.journal, &desk.journal},
                              {},
                              desk.source(),
                              "filtering",
                              kSnapshotBytesMin,
                              std::make_shared<Hiding>()});
  ForkRequest request = Desk::at(0);
  request.parent = RunId{"p"};
  request.by = "ann";
  request.edits = {{"input", "my key is hunter22"}};
  engine.fork(request, [](const Result<Forked>& forked) { CHECK(forked); });
  desk.loop.advance(5);
  CHECK(desk.events<RunStarted>("f").front().input == Content("my key is [[key]]"));
}

TEST_CASE("what is edited into a fork passes the processors of what it replaces") {
  struct Naming final : Processor {
    std::string_view name() const override { return "naming"; }
    ProcessorVerdict process(const ProcessedText& text) const override {
      return TextModified{std::string(text.text) + " (" + std::string(pawl::name(text.source)) +
                          ")"};
    }
  };
  ScriptReply slow = ScriptReply::call("note");
  slow.delay_ms = 1000;
  Desk desk(scripted({slow, ScriptReply::say("Done.")}));
  CHECK(desk.engine.feed(RunId{"p"}, MessageReceived{kRootInstance, Content("hi"), "bob"}));
  desk.loop.advance(2000);
  const auto processors = std::make_shared<Processors>();
  REQUIRE(processors->input.add({std::make_shared<Naming>()}));
  Engine engine(EngineOptions{desk.loop,
                              {&desk.journal, &desk.journal, &desk.journal, &desk.journal},
                              {},
                              [&](const PinnedCharter&) {
                                PreparedAgent made = desk.agent();
                                made.charter.processors = processors;
                                return made;
                              }});
  ForkRequest request = Desk::at(1);
  request.parent = RunId{"p"};
  request.edits = {{"input", "go"}, {"message1", "ho"}, {"c1", "noted"}};

  engine.fork(request, [](const Result<Forked>& forked) { CHECK(forked); });
  desk.loop.advance(5);

  CHECK(desk.events<RunStarted>("f").front().input == Content("go (run_input)"));
  CHECK(desk.events<MessageReceived>("f").front().text == Content("ho (message)"));
  CHECK(desk.events<ToolFinished>("f").front().content == Content("noted"));
}

TEST_CASE("what the charter says of approvers, spending and output is pinned when a run starts") {
  Desk desk;
  PreparedAgent agent = desk.agent();
  agent.charter.permissions.approvers = Approvers::listed;
  agent.charter.permissions.signers = {{"ann", {"ed25519:x"}}};
  agent.charter.sampling.max_output_tokens = 77;
  agent.charter.spending.ask_cost_pico = 5;
  agent.charter.spending.unknown_price = Spending::UnknownPrice::allow;
  desk.service.start({agent, "go", RunId{"q"}, nullptr},
                     [](const Result<RunId>& accepted) { CHECK(accepted); });
  desk.loop.advance(300);
  const RunStarted pinned = desk.events<RunStarted>("q").front();
  CHECK(pinned.approvers == Approvers::listed);
  CHECK(pinned.signers == agent.charter.permissions.signers);
  CHECK(pinned.output_tokens == 77);
  CHECK(pinned.limits.ask_cost_pico == 5);
}

TEST_CASE("what the model said in a step can be edited, and messages can") {
  ScriptReply speech = ScriptReply::say("First.");
  std::get<ScriptSpeech>(speech.outcome).calls = {{"note", "{}"}};
  Desk desk(scripted({speech, ScriptReply::say("Done.")}));
  ForkRequest request = Desk::at(1);
  request.edits = {{"step1.text", "Second."}};

  REQUIRE(desk.fork(request));

  const ModelReplied edited = desk.events<ModelReplied>("f").front();
  CHECK(edited.origin == Origin::person);
  CHECK(std::get<TextBlock>(edited.blocks[0]).text == Content("Second."));
  CHECK(std::holds_alternative<CallBlock>(edited.blocks[1]));
  request = Desk::at(1, "g");
  request.edits = {{"message1", "x"}};
  const auto refused = desk.fork(request);
  REQUIRE(!refused);
  CHECK(refused.error().code == ErrorCode::invalid_argument);
  CHECK(has_part(refused.error().message, "input, step1.text, c1"));
  CHECK(!desk.service.show(RunId{"g"}));  // nothing is left of it
}

TEST_CASE("a message of the prefix can be edited by its number") {
  ScriptReply slow = ScriptReply::call("note");
  slow.delay_ms = 1000;
  Desk desk(scripted({slow, ScriptReply::say("Done.")}));
  CHECK(desk.engine.feed(RunId{"p"}, MessageReceived{kRootInstance, Content("hi"), "bob"}));
  desk.loop.advance(2000);
  ForkRequest request = Desk::at(1);
  request.edits = {{"message1", "ho"}};

  REQUIRE(desk.fork(request));

  CHECK(desk.events<MessageReceived>("f").front().text == Content("ho"));
}

TEST_CASE("large contents of the prefix belong to the fork as well") {
  Desk desk(scripted({ScriptReply::say("x")}));
  desk.script = three_notes();
  desk.tool->padding = std::string(5000, 'x');
  desk.service.start({desk.agent(), std::string(6000, 'i'), RunId{"big"}, nullptr},
                     [](const Result<RunId>&) {});
  desk.loop.advance(300);
  std::optional<Result<Forked>> answer;
  ForkRequest request = Desk::at(2);
  request.parent = RunId{"big"};

  desk.service.fork(request, [&](Result<Forked> forked) { answer = std::move(forked); });
  desk.loop.advance(300);

  REQUIRE(answer);
  REQUIRE(*answer);
  CHECK(replay(desk.journal, RunId{"f"})->same());
  CHECK(replay(desk.journal, RunId{"f"})->blobs == 4);
}

TEST_CASE("another model is pinned in the fork, if somebody can make it") {
  Desk desk;
  ForkRequest request = Desk::at(1);
  request.model = "scripted/other";

  REQUIRE(desk.fork(request));
  CHECK(desk.show("f").state.model == "scripted/other");
  CHECK(desk.show("p").state.model == "scripted");

  request = Desk::at(1, "g");
  request.model = desk.model_refused;
  const auto refused = desk.fork(request);
  REQUIRE(!refused);
  CHECK(refused.error().code == ErrorCode::invalid_argument);
}

TEST_CASE("a fork is refused where the host makes another model than was asked for") {
  Desk desk;
  Engine engine(EngineOptions{desk.loop,
                              {&desk.journal, &desk.journal, &desk.journal, &desk.journal},
                              {},
                              [&desk](const PinnedCharter&) { return desk.agent(); }});
  ForkRequest request = Desk::at(1);
  request.parent = RunId{"p"};
  request.model = "scripted/other";
  std::optional<Result<Forked>> answer;

  engine.fork(request, [&](Result<Forked> forked) { answer = std::move(forked); });
  desk.loop.advance(300);

  REQUIRE(answer);
  REQUIRE(!*answer);
  CHECK(has_part(answer->error().message, "cannot run the fork with the model 'scripted/other'"));
  CHECK(!desk.service.show(RunId{"f"}));
}

TEST_CASE("what the prefix has cost is spent, whatever the fork's model costs") {
  RunStage stage(three_notes());
  stage.prices = {
      {"scripted", 1'000}, {"scripted/cheap", 1}, {"scripted/dear", 5'000}, {"scripted/euro", 1}};
  stage.in_euros = {"scripted/euro"};
  stage.start("p");
  const auto inherited = [&stage](const std::string& id, const std::string& model) {
    ForkRequest request = Desk::at(2, id);
    request.parent = RunId{"p"};
    request.model = model;
    std::uint64_t cost = 0;
    stage.service.fork(std::move(request), [&](const Result<Forked>& forked) {
      REQUIRE(forked);
      cost = forked->inherited.cost_pico;
    });
    stage.loop.advance(300);
    return cost;
  };
  const std::uint64_t paid = inherited("same", "");
  REQUIRE(paid > 0);

  CHECK(inherited("cheap", "scripted/cheap") == paid);
  CHECK(inherited("dear", "scripted/dear") == paid);
  CHECK(inherited("euro", "scripted/euro") == paid / 1'000);  // Dollars are no euros.
  CHECK(stage.service.show(RunId{"euro"})->state.prices.currency == "EUR");

  // What it does itself it pays at its own prices, and no event of a fork of the same model
  // differs.
  const std::uint64_t all = stage.service.show(RunId{"p"})->state.tally.cost_pico;
  const std::uint64_t cheap = stage.service.show(RunId{"cheap"})->state.tally.cost_pico;
  CHECK(cheap - paid == (all - paid) / 1'000);
  CHECK(stage.service.show(RunId{"same"})->state.tally.cost_pico == all);
  CHECK(replay(stage.journal, RunId{"cheap"})->same());
}

TEST_CASE("a fork is refused where there is nothing to fork, and an id that is taken is refused") {
  Desk desk;
  CHECK(desk.fork(Desk::at(9)).error().code == ErrorCode::invalid_argument);
  CHECK(has_part(desk.fork(Desk::at(9)).error().message, "has 4 steps"));
  CHECK(desk.fork(Desk::at(1, "p")).error().code == ErrorCode::conflict);
  ForkRequest twice = Desk::at(1);
  twice.edits = {{"c1", "a"}, {"c1", "b"}};
  CHECK(desk.fork(twice).error().code == ErrorCode::invalid_argument);
  ForkRequest nobody = Desk::at(0);
  std::optional<Result<Forked>> answer;
  nobody.parent = RunId{"nobody"};
  desk.service.fork(nobody, [&](Result<Forked> forked) { answer = std::move(forked); });
  desk.loop.advance(10);
  CHECK(answer->error().code == ErrorCode::not_found);
}

TEST_CASE("a run that is still at work can be forked at a step that has ended") {
  Desk desk(scripted(
      {ScriptReply::call("note"), ScriptReply::call("note", R"({"n":2})"), ScriptReply::say("x")}));
  desk.tool->answers = false;
  desk.start("live");
  std::optional<Result<Forked>> answer;
  ForkRequest request = Desk::at(1);
  request.parent = RunId{"live"};
  const auto keep = [&](Result<Forked> forked) { answer = std::move(forked); };
  desk.service.fork(request, keep);
  desk.loop.advance(10);
  REQUIRE(answer);
  CHECK(has_part(answer->error().message, "has calls that have not ended"));

  request.step = 0;
  desk.tool->answers = true;
  desk.service.fork(request, keep);
  desk.loop.advance(300);
  CHECK(*answer);
  CHECK(desk.show("f").output == "x");
}

TEST_CASE("no prefix ends where a worker's model is still being asked") {
  RecordedRun told("p");
  InstanceSpawned worker;
  worker.node = "worker";
  worker.input = Content("work");
  told.then(worker);
  told.says(kRootInstance, "I go on.");
  TestLoop loop;
  MemoryJournal journal(loop);
  told.write(journal, loop);
  ForkRequest request = Desk::at(1);
  request.parent = RunId{"p"};
  PrefixRewriter prefix(
      journal, request, *ForkEdits::make({}), [](RunStarted& start) { start.run = RunId{"f"}; },
      PrefixRewriter::Blobs::left_out);

  Result<std::optional<WritePiece>> piece = prefix.next();
  while (piece && *piece) piece = prefix.next();

  REQUIRE(!piece);
  CHECK(has_part(piece.error().message, "has calls that have not ended"));
}

TEST_CASE("a prefix that an edit makes impossible is refused and leaves no trace") {
  RunStage stage(three_notes());
  PreparedAgent agent = stage.agent();
  agent.charter.limits.bytes_in = 1000;
  stage.service.start({agent, "go", RunId{"p"}, nullptr}, [](const Result<RunId>&) {});
  stage.loop.advance(300);
  ForkRequest request = Desk::at(2);
  request.parent = RunId{"p"};
  request.edits = {{"input", std::string(2000, 'x')}};
  std::optional<Result<Forked>> answer;

  stage.service.fork(request, [&](Result<Forked> forked) { answer = std::move(forked); });
  stage.loop.advance(300);

  REQUIRE(answer);
  REQUIRE(!*answer);
  CHECK(has_part(answer->error().message, "does not follow from the prefix as it is now"));
  CHECK(!stage.service.show(RunId{"f"}));
}

TEST_CASE("wherever its process dies, a fork is absent, not to be driven, or goes on as a fork") {
  const std::uint64_t prefix = [] {
    Desk desk;
    return desk.fork(Desk::at(2))->from.seq + 1;
  }();
  for (std::size_t appends = 0; appends <= prefix + 2; ++appends) {
    CAPTURE(appends);
    Desk desk;
    const std::set<std::string> before(desk.tool->keys.begin(), desk.tool->keys.end());
    {
      DyingJournal dying(desk.journal, appends);
      Engine doomed(EngineOptions{
          desk.loop, {&dying, &desk.journal, &desk.journal, &desk.journal}, {}, desk.source()});
      ForkRequest request = Desk::at(2);
      request.parent = RunId{"p"};
      doomed.fork(request, [](const Result<Forked>&) {});
      desk.loop.advance(300);
    }
    const auto found = desk.service.show(RunId{"f"});
    CHECK(found.has_value() == (appends > 0));
    if (!found) continue;
    const bool whole = found->summary.length >= prefix;
    CHECK((found->summary.status == "quarantined") == !whole);
    const Status resumed = desk.service.resume(RunId{"f"});
    desk.loop.advance(300);
    CHECK(resumed.has_value() == whole);
    CHECK(replay(desk.journal, RunId{"f"})->same());
    // Of the parent's three calls at most the third is made, and under another key.
    CHECK(desk.tool->keys.size() <= before.size() + 1);
    for (std::size_t i = before.size(); i < desk.tool->keys.size(); ++i) {
      CHECK(!before.contains(desk.tool->keys[i]));
    }
  }
}

TEST_CASE("a fork of a run that was paused goes on all the same") {
  Desk desk;
  bool paused = false;
  const auto subscription = desk.engine.subscribe([&](const RunEvent& event) {
    const auto* view = std::get_if<std::shared_ptr<const RecordView>>(&event);
    if (view == nullptr || !std::holds_alternative<ModelReplied>((*view)->record.event)) return;
    // Its call runs, and may end under the pause.
    if (!std::exchange(paused, true)) CHECK(desk.engine.feed(RunId{"q"}, PauseRequested{"ann"}));
  });
  desk.start("q");
  REQUIRE(desk.show("q").summary.reason == "paused");
  ForkRequest request = Desk::at(1);
  request.parent = RunId{"q"};

  desk.service.fork(request, [](const Result<Forked>& forked) { CHECK(forked); });
  desk.loop.advance(300);

  CHECK(desk.show("f").summary.status == "done");
  CHECK(desk.show("q").summary.reason == "paused");
}

TEST_CASE("where a fork comes from is confirmed, contradicted, or not to be found") {
  Desk desk;
  REQUIRE(desk.fork(Desk::at(2)));
  const RunId other = desk.start("q", "another input");
  MemoryJournal elsewhere(desk.loop);
  write_journal(elsewhere, desk.loop, RunId{"f"}, decoded(desk.records(RunId{"f"})));
  CHECK(replay(elsewhere, RunId{"f"})->lineage == Lineage::parent_absent);

  write_journal(elsewhere, desk.loop, RunId{"p"}, decoded(desk.records(other)));

  CHECK(replay(elsewhere, RunId{"f"})->lineage == Lineage::contradicted);
  CHECK(replay(desk.journal, RunId{"f"})->lineage == Lineage::confirmed);
}

TEST_CASE("a parent that cannot be read is not taken for one that is gone") {
  class NoParent final : public ForwardingReader {
   public:
    using ForwardingReader::ForwardingReader;
    Result<std::vector<StoredRecord>> read(const RunId& run, std::uint64_t from,
                                           std::size_t bytes_max) override {
      if (run == RunId{"p"}) return Error{ErrorCode::corrupt, "row 1 is damaged"};
      return ForwardingReader::read(run, from, bytes_max);
    }
  };
  Desk desk;
  REQUIRE(desk.fork(Desk::at(2)));
  NoParent reader(desk.journal);

  CHECK(replay(reader, RunId{"f"})->lineage == Lineage::contradicted);
}

TEST_CASE("a fork of a fork names its own parent") {
  Desk desk;
  REQUIRE(desk.fork(Desk::at(2)));
  ForkRequest request = Desk::at(3, "g");
  request.parent = RunId{"f"};
  std::optional<Result<Forked>> answer;

  desk.service.fork(request, [&](Result<Forked> forked) { answer = std::move(forked); });
  desk.loop.advance(300);

  REQUIRE(*answer);
  CHECK((*answer)->from.run == RunId{"f"});
  CHECK(replay(desk.journal, RunId{"g"})->lineage == Lineage::confirmed);
}

}  // namespace pawl
