// Commands on runs, with a store in memory.
#include <doctest/doctest.h>

#include "pawl/json.h"
#include "pawl/surface/cli/cli_test_support.h"
#include "pawl/surface/cli/context.h"

namespace pawl {
namespace {

struct Answer {
  int code = 0;
  std::string out;
  std::string err;
};

Answer pawl(MemoryEnvironment& environment, std::vector<const char*> words) {
  words.insert(words.begin(), "pawl");
  environment.screen = {};
  const int code = run_cli(static_cast<int>(words.size()), words.data(), environment);
  return {code, environment.screen.out, environment.screen.err};
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> lines;
  std::size_t from = 0;
  while (from < text.size()) {
    const std::size_t end = text.find('\n', from);
    REQUIRE(end != std::string::npos);
    auto line = parse_json(std::string_view(text).substr(from, end - from));
    REQUIRE(line);
    lines.push_back(*std::move(line));
    from = end + 1;
  }
  return lines;
}

}  // namespace

TEST_CASE("a run is told in plain lines, its output last") {
  MemoryEnvironment environment;

  const Answer answer = pawl(environment, {"run", "c.yaml", "--id", "r1"});

  CHECK(answer.code == 0);
  CHECK(answer.err.empty());
  CHECK(answer.out.starts_with("run r1: test\nstep 1\n  c1 note {}\n  c1 note done: noted\n"));
  CHECK(answer.out.ends_with("\n\nAll noted.\n"));
}

TEST_CASE("a run as JSON lines has dense numbers and ends with its end") {
  MemoryEnvironment environment;

  const Answer answer = pawl(environment, {"run", "c.yaml", "--id", "r1", "--json"});

  CHECK(answer.code == 0);
  const auto lines = lines_of(answer.out);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    CHECK(lines[i].find("seq")->as_uint64() == i);
  }
  CHECK(*lines.back().find_string("type") == "run_finished");
  CHECK(*lines.back().find_string("output") == "All noted.");
  CHECK(pawl(environment, {"logs", "r1", "--json"}).out == answer.out);
  CHECK(pawl(environment, {"attach", "r1", "--json"}).out == answer.out);
}

TEST_CASE("runs are listed and shown, by any unique prefix") {
  MemoryEnvironment environment;
  pawl(environment, {"run", "c.yaml", "--id", "abc1"});
  pawl(environment, {"run", "c.yaml", "--id", "abc2"});

  const auto listed = lines_of(pawl(environment, {"ls", "--json"}).out);
  REQUIRE(listed.size() == 2);
  CHECK(*listed[0].find_string("run") == "abc2");
  CHECK(pawl(environment, {"ls", "--status", "failed"}).out.empty());
  const Answer shown = pawl(environment, {"show", "abc2", "--json"});
  CHECK(shown.code == 0);
  CHECK(*lines_of(shown.out)[0].find_string("output") == "All noted.");
  CHECK(*lines_of(shown.out)[0].find_string("description") == "Notes things.");
  CHECK(holds(pawl(environment, {"show", "abc1"}).out, "done, end_turn"));
  CHECK(holds(pawl(environment, {"show", "abc1"}).out, "description  Notes things.\n"));

  const Answer ambiguous = pawl(environment, {"show", "abc"});
  CHECK(ambiguous.code == 1);
  CHECK(holds(ambiguous.err, "abc1"));
  CHECK(holds(ambiguous.err, "abc2"));
}

TEST_CASE("logs can begin later, explain has words, verify finds nothing wrong") {
  MemoryEnvironment environment;
  pawl(environment, {"run", "c.yaml", "--id", "r1"});

  const auto later = lines_of(pawl(environment, {"logs", "r1", "--from", "2", "--json"}).out);
  CHECK(later.front().find("seq")->as_uint64() == 2);
  CHECK(holds(pawl(environment, {"logs", "r1"}).out, "done (end_turn)"));
  CHECK(holds(pawl(environment, {"explain", "r1"}).out, "done"));
  CHECK(holds(pawl(environment, {"verify", "--all"}).out, "r1 sound"));
}

TEST_CASE("a call in doubt is explained, resolved and not made again") {
  MemoryEnvironment environment;
  environment.start_and_crash("r1");

  const Answer waiting = pawl(environment, {"resume", "r1", "--json"});
  CHECK(waiting.code == 4);
  CHECK(*lines_of(waiting.out).back().find_string("type") == "run_waiting");
  CHECK(*lines_of(waiting.out).back().find_string("stop_reason") == "in_doubt");
  CHECK(holds(waiting.err, "pawl resolve r1 c1 --happened"));
  CHECK(holds(waiting.err, environment.tool->keys.front()));
  CHECK(pawl(environment, {"attach", "r1"}).code == 4);

  const Answer resolved = pawl(environment, {"resolve", "r1", "c1", "--happened", "noted"});
  CHECK(resolved.code == 0);
  CHECK(holds(resolved.out, "pawl resume r1"));
  const Answer resumed = pawl(environment, {"resume", "r1"});
  CHECK(resumed.code == 0);
  CHECK(holds(resumed.out, "c1 note is resolved by somebody: it happened"));
  CHECK(environment.tool->keys.size() == 1);
}

TEST_CASE("a run whose process died is called interrupted and not waited for") {
  MemoryEnvironment environment;
  environment.start_and_crash("r1");

  CHECK(holds(pawl(environment, {"ls"}).out, " interrupted "));
  CHECK(holds(pawl(environment, {"ls", "--status", "interrupted"}).out, "r1"));
  CHECK(holds(pawl(environment, {"show", "r1"}).out, "interrupted\n"));
  for (const char* command : {"ls", "show"}) {
    std::vector<const char*> words = {command, "--json"};
    if (std::string_view(command) == "show") words.push_back("r1");
    const auto shown = lines_of(pawl(environment, words).out);
    CHECK(*shown[0].find_string("status") == "running");
    CHECK(shown[0].find("driven")->boolean() == false);
  }
  const Answer attached = pawl(environment, {"attach", "r1"});
  CHECK(attached.code == 1);
  CHECK(holds(attached.err, "nobody drives this run; `pawl resume r1` carries it on"));
  const Answer followed = pawl(environment, {"logs", "-f", "r1"});
  CHECK(followed.code == 0);
  CHECK(holds(followed.out, "run_started"));
  CHECK(holds(followed.err, "nobody drives this run; `pawl resume r1` carries it on"));

  pawl(environment, {"resume", "r1"});

  CHECK(pawl(environment, {"ls", "--status", "interrupted"}).out.empty());
  CHECK(holds(pawl(environment, {"show", "r1"}).out, "waiting, in_doubt"));
}

TEST_CASE("an event that was shown is shown the same ever after") {
  MemoryEnvironment environment;
  environment.start_and_crash("r1");
  const auto shown = lines_of(pawl(environment, {"resume", "r1", "--json"}).out);
  REQUIRE(*shown.back().find_string("type") == "run_waiting");

  pawl(environment, {"resolve", "r1", "c1", "--happened", "noted"});
  CHECK(pawl(environment, {"resume", "r1"}).code == 0);

  const auto events = lines_of(pawl(environment, {"logs", "r1", "--json"}).out);
  CHECK(*events.back().find_string("output") != "");
  CHECK(events.at(*shown.back().find("seq")->as_uint64()) == shown.back());
}

TEST_CASE("runs that nobody drives are paused, spoken to and cancelled all the same") {
  MemoryEnvironment environment;
  environment.start_and_crash("r1");

  const Answer message = pawl(environment, {"message", "r1", "hello"});
  CHECK(message.code == 0);
  CHECK(holds(message.out, "stored; nobody drives the run"));
  CHECK(holds(message.out, "pawl resume r1"));
  const Answer cancelled = pawl(environment, {"cancel", "r1", "enough"});
  CHECK(cancelled.code == 0);
  CHECK(holds(cancelled.out, "the run is cancelled"));
  CHECK(holds(pawl(environment, {"explain", "r1"}).out, "enough"));
  for (const char* command : {"pause", "cancel"}) {
    const Answer late = pawl(environment, {command, "r1"});
    CHECK(late.code == 1);
    CHECK(holds(late.err, "is over"));
  }
  // Resuming what is over says how it ended: a supervisor need not know that it was late.
  const Answer resumed = pawl(environment, {"resume", "r1"});
  CHECK(resumed.code == 130);
  CHECK(holds(resumed.err, "is over"));
}

TEST_CASE("runs that are over are removed, others only by force") {
  MemoryEnvironment environment;
  pawl(environment, {"run", "c.yaml", "--id", "a1"});
  pawl(environment, {"run", "c.yaml", "--id", "a2"});
  environment.tool->keys.clear();
  environment.start_and_crash("b");

  CHECK(pawl(environment, {"rm", "a1", "zz"}).code == 1);
  CHECK(pawl(environment, {"rm", "a"}).code == 1);
  const Answer kept = pawl(environment, {"rm", "a1", "b"});
  CHECK(kept.code == 1);
  CHECK(holds(kept.out, "removed a1 (done)"));
  CHECK(holds(kept.out, "removed 1 run; 0 bytes returned"));
  CHECK(holds(kept.err, "--force"));
  CHECK(environment.forgotten == std::vector<std::string>{"a1"});
  CHECK(pawl(environment, {"show", "a1"}).code == 1);
  const Answer forced = pawl(environment, {"rm", "a2", "b", "--force", "--json"});
  CHECK(forced.code == 0);
  CHECK(*lines_of(forced.out)[1].find_string("run") == "b");
  CHECK(pawl(environment, {"ls"}).out.empty());
  environment.tool->answer = FakeTool::Answer::at_once;
  CHECK(pawl(environment, {"run", "c.yaml", "--id", "a1"}).code == 0);
}

TEST_CASE("gc needs a rule, tells before it acts, and takes the oldest") {
  MemoryEnvironment environment;
  for (const char* id : {"r1", "r2", "r3"}) pawl(environment, {"run", "c.yaml", "--id", id});

  CHECK(pawl(environment, {"gc"}).code == 2);
  CHECK(pawl(environment, {"gc", "--keep", "x"}).code == 2);
  CHECK(pawl(environment, {"gc", "--older-than", "1h"}).out ==
        "removed 0 runs; 0 bytes returned\n");
  CHECK(holds(pawl(environment, {"gc", "--keep", "1", "--dry-run"}).out, "would remove 2 runs"));
  const auto said = lines_of(pawl(environment, {"gc", "--keep", "1", "--json"}).out);
  REQUIRE(said.size() == 3);
  CHECK(*said[0].find_string("run") == "r1");
  CHECK(said[2].find("runs")->as_uint64() == 2);
  CHECK(holds(pawl(environment, {"gc", "--max-size", "1"}).out, "removed r3"));
  CHECK(pawl(environment, {"backup", "somewhere"}).code == 2);
}

TEST_CASE("doctor says what it found, and ends with 1 only for a problem") {
  MemoryEnvironment environment;
  environment.findings = {{Finding::Grade::ok, "database", "8192 bytes", "", {{"bytes", 8192}}},
                          {Finding::Grade::warning, "runs", "r1 is interrupted", "pawl resume r1"}};

  const Answer well = pawl(environment, {"doctor", "--data", "d"});
  CHECK(well.code == 0);
  CHECK(well.out ==
        "ok       database: 8192 bytes\n"
        "warning  runs: r1 is interrupted; pawl --data d resume r1\n");
  environment.findings[0].grade = Finding::Grade::problem;
  const Answer ill = pawl(environment, {"doctor", "--json"});
  CHECK(ill.code == 1);
  const auto lines = lines_of(ill.out);
  REQUIRE(lines.size() == 2);
  CHECK(*lines[0].find_string("grade") == "problem");
  CHECK(lines[0].find("figures")->find("bytes")->as_uint64() == 8192);
  CHECK(*lines[1].find_string("remedy") == "pawl resume r1");
}

TEST_CASE("a limit of the command line ends a run with what it has") {
  MemoryEnvironment environment;

  const Answer answer = pawl(environment, {"run", "c.yaml", "--id", "r1", "--steps", "1"});

  CHECK(answer.code == 5);
  CHECK(holds(answer.err, "steps"));
}

namespace {

// Lists one run more than there is, as somebody sees who listed it before it was removed.
struct RemovedSince final : Catalog {
  explicit RemovedSince(Catalog& there) : catalog(there) {}
  Result<std::vector<RunSummary>> list(const ListQuery& query) override {
    PAWL_TRY(auto runs, catalog.list(query));
    if (query.id_prefix.empty()) {
      runs.push_back({RunId{"gone"}, "default", "test", "running", "", 1, 2, 3});
    }
    return runs;
  }
  Result<std::uint64_t> version() override { return catalog.version(); }
  Result<bool> is_driven(const RunId& run) override { return catalog.is_driven(run); }

  Catalog& catalog;
};

}  // namespace

TEST_CASE("a run that is removed while runs are listed or verified is in nobody's way") {
  MemoryEnvironment environment;
  REQUIRE(pawl(environment, {"run", "a.yaml", "--id", "r1"}).code == 0);
  RemovedSince catalog(environment.journal);
  environment.catalog = &catalog;

  const Answer listed = pawl(environment, {"ls"});
  CHECK(listed.code == 0);
  CHECK(holds(listed.out, "r1"));
  CHECK(!holds(listed.out, "gone"));
  const Answer verified = pawl(environment, {"verify", "--all"});
  CHECK(verified.code == 0);
  CHECK(holds(verified.out, "r1 sound"));
  CHECK(pawl(environment, {"verify", "gone"}).code == 1);
}

TEST_CASE("a run whose loaders were killed is checked, and goes on where an operator names it") {
  MemoryEnvironment environment;
  environment.start_and_crash("r1");
  // Each of them died before it could add a record.
  for (int load = 0; load < kFailedLoadsMax; ++load) {
    CHECK(environment.journal.acquire(RunId{"r1"}));
  }

  const Answer resumed = pawl(environment, {"resume", "r1"});

  CHECK(resumed.code == 4);  // its call is in doubt, as after any crash
}

TEST_CASE("a run that is quarantined for damage stays so, whoever names it") {
  MemoryEnvironment environment;
  environment.start_and_crash("r1");
  REQUIRE(environment.journal.quarantine(RunId{"r1"}, "record 3: the chain is broken"));
  CHECK(pawl(environment, {"resume", "r1"}).code == 6);
}

}  // namespace pawl
