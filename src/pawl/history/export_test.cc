#include "pawl/history/export.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

#include "pawl/base/base64.h"
#include "pawl/json.h"
#include "pawl/testing/stage/exported_run_test.h"

namespace pawl {
namespace {

bool has_part(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Put together here, so that no file of ours holds what looks like a key.
const std::string kKey = "sk-" + std::string("aB3dE6gH9jK2mN5pQ8sT");

}  // namespace

TEST_CASE("what is exported is imported elsewhere, byte for byte") {
  RunStage here(a_note());
  here.tool->padding = std::string(5000, 'x');
  here.start("r", std::string(6000, 'i'));
  const Exported file = exported(here, "r");
  CHECK(file.report.blobs == 2);
  CHECK(file.report.look_only.empty());
  RunStage there(a_note());

  const auto report = imported(there, file.text);

  REQUIRE(report);
  CHECK(report->chain == here.chain(RunId{"r"}));
  CHECK(there.records(RunId{"r"}) == here.records(RunId{"r"}));
  CHECK(there.service.show(RunId{"r"})->summary.status == "done");
  CHECK(there.service.show(RunId{"r"})->output == "All noted.");
  CHECK(there.service.verify(RunId{"r"})->damage.empty());
  CHECK(replay(there.journal, RunId{"r"})->same());
  CHECK(exported(there, "r").text == file.text);
  CHECK(there.tool->keys.empty());
}

TEST_CASE("an id that is taken is refused, another one can be given") {
  RunStage stage(a_note());
  stage.start("r");
  const Exported file = exported(stage, "r");

  CHECK(imported(stage, file.text).error().code == ErrorCode::conflict);
  const auto report = imported(stage, file.text, RunId{"copy"});

  REQUIRE(report);
  CHECK(report->run == RunId{"copy"});
  CHECK(report->look_only.empty());
  CHECK(replay(stage.journal, RunId{"copy"})->same());
  CHECK(diff_runs(stage.journal, RunId{"r"}, RunId{"copy"}, DiffScope::substance)->same());
}

TEST_CASE("a run that is not over goes on where it is imported, with the keys it had") {
  RunStage here(a_note());
  here.tool->answers = false;
  here.start("r");
  REQUIRE(here.tool->keys.size() == 1);
  RunStage there(a_note());
  REQUIRE(imported(there, exported(here, "r").text));

  REQUIRE(there.service.resume(RunId{"r"}));
  there.loop.advance(300);

  CHECK(there.service.show(RunId{"r"})->summary.reason == "in_doubt");
  CHECK(there.service.resolution(RunId{"r"}, CallId{1}, DoubtVerdict::did_not_happen, {}, "ann"));
  CHECK(replay(there.journal, RunId{"r"})->same());
}

TEST_CASE("a run with many drivers behind it goes on with epochs that do not fall") {
  ScriptReply waits = ScriptReply::say("wait");
  std::get<ScriptSpeech>(waits.outcome).stop = ReplyStop::suspend;
  RunStage here(scripted({waits, ScriptReply::say("bye")}));
  here.start("r");
  for (int i = 0; i < 5; ++i) {
    REQUIRE(here.service.resume(RunId{"r"}));
    here.loop.advance(300);
  }
  RunStage there(here.script);
  REQUIRE(imported(there, exported(here, "r").text));

  REQUIRE(there.service.resume(RunId{"r"}));
  CHECK(there.engine.feed(RunId{"r"}, InstanceResumed{kRootInstance, "s1", "ann"}));
  there.loop.advance(300);

  CHECK(there.service.show(RunId{"r"})->output == "bye");
  CHECK(there.service.verify(RunId{"r"})->damage.empty());
}

TEST_CASE("under another id a run that is not over can be looked at and forked, not driven") {
  RunStage stage(a_note());
  stage.tool->answers = false;
  stage.start("r");

  const auto report = imported(stage, exported(stage, "r").text, RunId{"copy"});

  REQUIRE(report);
  CHECK(has_part(report->look_only, "another id"));
  CHECK(stage.service.resume(RunId{"copy"}).error().code == ErrorCode::corrupt);
  CHECK(has_part(*stage.service.explain(RunId{"copy"}), "can be looked at"));
  stage.tool->answers = true;
  ForkRequest request;
  request.parent = RunId{"copy"};
  request.id = RunId{"f"};
  stage.service.fork(request, [](const Result<Forked>& forked) { CHECK(forked); });
  stage.loop.advance(300);
  CHECK(stage.service.show(RunId{"f"})->output == "All noted.");
}

TEST_CASE("secrets are replaced, and what is left can be looked at but not driven") {
  RunStage here(scripted({ScriptReply::call("note", R"({"key":")" + kKey + "\"}"),
                          ScriptReply::say("Your password is hunter2hunter2.")}));
  here.tool->padding = std::string(5000, 'x') + " " + kKey + " ";
  here.start("r", "use " + kKey);
  ExportOptions options;
  options.secrets = {"hunter2hunter2"};

  const Exported file = exported(here, "r", options);

  CHECK(!has_part(file.text, kKey));
  CHECK(!has_part(file.text, to_base64(kKey).substr(4, 20)));
  CHECK(!has_part(file.text, "hunter2"));
  CHECK(has_part(file.text, "[redacted:1]"));
  CHECK(file.report.redactions == 4);
  CHECK(file.report.look_only == "redacted");
  CHECK(file.report.chain != here.chain(RunId{"r"}));
  RunStage there(a_note());
  const auto report = imported(there, file.text);
  REQUIRE(report);
  const RunDetails details = *there.service.show(RunId{"r"});
  CHECK(details.summary.status == "quarantined");
  CHECK(details.output == "Your password is [redacted:2].");
  CHECK(there.service.verify(RunId{"r"})->damage.empty());
  CHECK(!there.service.resume(RunId{"r"}));
  ForkRequest request;
  request.parent = RunId{"r"};
  std::optional<Result<Forked>> forked;
  there.service.fork(request, [&](Result<Forked> answer) { forked = std::move(answer); });
  there.loop.advance(10);
  CHECK(has_part(forked->error().message, "redacted"));
  // It stays what it is, however often it travels.
  CHECK(exported(there, "r").report.look_only == "redacted");
  // And without redaction everything is there.
  options.redaction = ExportOptions::Redaction::off;
  CHECK(exported(here, "r", options).report.chain == here.chain(RunId{"r"}));
}

TEST_CASE("a redacted record is not taken from a file that says that nothing was replaced") {
  RunStage here(scripted({ScriptReply::say("fine")}));
  here.start("r", "use " + kKey);
  std::vector<std::string> lines = lines_of(exported(here, "r").text);
  std::string& first = lines.front();
  for (const auto& [told, instead] :
       std::map<std::string, std::string>{{R"("redactions":1)", R"("redactions":0)"},
                                          {R"("look_only":"redacted")", R"("look_only":"")"}}) {
    const std::size_t at = first.find(told);
    REQUIRE(at != std::string::npos);
    first.replace(at, told.size(), instead);
  }

  check_refused(sealed(lines), "the record was redacted");
}

TEST_CASE("a secret is replaced in decisions too, and in every byte that leaves") {
  RunStage here(scripted({ScriptReply::fail(ErrorCategory::policy_violation, "refused " + kKey)}));
  here.start("r");
  REQUIRE(has_part(*here.service.explain(RunId{"r"}), kKey));  // the reason for the end

  const Exported file = exported(here, "r");

  CHECK(!has_part(file.text, kKey));
  std::size_t looked_at = 0;
  for (const std::string& line : lines_of(file.text)) {
    const auto json = parse_json(line);
    const auto bytes = json->find_string("bytes");
    if (!bytes) continue;
    CHECK(!has_part(*from_base64(*bytes), kKey));
    ++looked_at;
  }
  CHECK(looked_at >= file.report.records);
}

TEST_CASE("a quarantined run whose secrets were taken out is a redacted one") {
  RunStage stage(a_note());
  stage.start("r", "my key is " + kKey);
  REQUIRE(stage.journal.quarantine(RunId{"r"}, "somebody doubts it"));

  CHECK(exported(stage, "r").report.look_only == "redacted");
}

TEST_CASE("records that this version would not have written are for looking only") {
  RunStage stage(a_note());
  stage.tool->answers = false;
  stage.start("r");
  std::vector<Record> records = decoded(stage.records(RunId{"r"}));
  for (Decision& decision : records[1].decisions) {
    if (auto* ended = std::get_if<StepEnded>(&decision)) ended->yield = YieldReason::command;
  }
  RunStage forged(a_note());
  write_journal(forged.journal, forged.loop, RunId{"r"}, records);
  RunStage there(a_note());

  const auto report = imported(there, exported(forged, "r").text);

  REQUIRE(report);
  CHECK(has_part(report->look_only, "would not have written record 1"));
  CHECK(!there.service.resume(RunId{"r"}));
}

TEST_CASE("a run under way is for looking only where outputs of its tools have expired") {
  ScriptReply slow = ScriptReply::say("All noted.");
  slow.delay_ms = 20'000;
  RunStage here(scripted({ScriptReply::call("note"), slow}));
  here.tool->padding = std::string(5000, 'x');
  here.start("r");
  std::vector<std::string> lines = lines_of(exported(here, "r").text);
  for (std::string& line : lines) {
    if (!line.starts_with("{\"blob\"")) continue;
    line = line.substr(0, line.find("\"bytes\"")) + R"("expired_at_ms":5})";
  }
  RunStage there(here.script);

  const auto report = imported(there, sealed(lines));

  REQUIRE(report);
  CHECK(report->expired == 1);
  CHECK(report->look_only == "outputs of its tools have expired");
  CHECK(there.service.show(RunId{"r"})->summary.status == "quarantined");
  CHECK(!there.service.resume(RunId{"r"}));
}

TEST_CASE("a file that changes between checking and writing leaves nothing that can be driven") {
  RunStage stage(a_note());
  stage.tool->answers = false;
  stage.start("a");
  const std::string file = exported(stage, "a").text;
  const auto lines = std::make_shared<TextLines>(file);
  lines->change_to(file.substr(0, file.size() - 20));
  RunStage there(a_note());

  const auto report = imported(there, lines);

  REQUIRE(!report);
  CHECK(there.service.list({})->front().status == "quarantined");
  CHECK(!there.service.resume(RunId{"a"}));
}

TEST_CASE("a file that another sound one has replaced meanwhile is not taken for it") {
  RunStage stage(a_note());
  stage.tool->answers = false;
  stage.start("a");
  const auto lines = std::make_shared<TextLines>(exported(stage, "a").text);
  RunStage later(a_note());
  later.start("a");
  lines->change_to(exported(later, "a").text);
  RunStage there(a_note());

  const auto report = imported(there, lines);

  REQUIRE(!report);
  CHECK(report.error().message.find("was changed while it was read") != std::string::npos);
  CHECK(there.service.list({})->front().status == "quarantined");
}

TEST_CASE("a damaged run is not exported") {
  RunStage stage(a_note());
  const auto absent =
      stage.service.export_run(RunId{"nobody"}, {}, [](std::string_view) { return ok(); });
  CHECK(absent.error().code == ErrorCode::not_found);
  stage.start("r");
  const auto full = stage.service.export_run(RunId{"r"}, {}, [](std::string_view) -> Status {
    return Error{ErrorCode::unavailable, "no space left"};
  });
  CHECK(full.error().message == "no space left");
}

// tests/golden/export-v2 holds a file of this format: every later version reads it, and this one
// writes it. PAWL_WRITE_GOLDEN=1 writes it anew, which is right only while the format is
// unreleased.
TEST_CASE("the golden export is read, and written as it is") {
  const char* root = std::getenv("PAWL_SOURCE_DIR");
  REQUIRE(root != nullptr);
  const std::string path = std::string(root) + "/tests/golden/export-v2/run.jsonl";
  ExportOptions options;
  options.program = "0.1.0";
  const char* write = std::getenv("PAWL_WRITE_GOLDEN");
  if (write != nullptr && *write != '\0') {
    RunStage stage(a_note());
    stage.tool->padding = std::string(5000, 'x');
    stage.start("golden");
    std::ofstream(path) << exported(stage, "golden", options).text;
  }
  std::ifstream in(path);
  const std::string golden{std::istreambuf_iterator<char>(in), {}};
  REQUIRE(!golden.empty());
  RunStage stage(a_note());

  REQUIRE(imported(stage, golden));

  CHECK(stage.service.show(RunId{"golden"})->output == "All noted.");
  CHECK(replay(stage.journal, RunId{"golden"})->same());
  CHECK(exported(stage, "golden", options).text == golden);
}

}  // namespace pawl
