#include "pawl/runtime/export_reader.h"

#include <doctest/doctest.h>

#include "pawl/runtime/exported_run_test.h"

namespace pawl {
TEST_CASE("files that were tampered with are refused with the line that shows it") {
  RunStage stage(a_note());
  stage.tool->padding = std::string(5000, 'x');
  stage.start("r");
  const std::string good = exported(stage, "r").text;
  const std::vector<std::string> lines = lines_of(good);
  const auto with = [&](std::size_t index, const std::string& line) {
    std::vector<std::string> changed = lines;
    changed[index] = line;
    return changed;
  };
  const auto replaced = [](std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
  };
  REQUIRE(lines.size() >= 6);

  check_refused("", "line 1: the file ends here");
  check_refused("hello\n", "line 1: not JSON");
  check_refused("{}\n", "line 1: this is not a run");
  check_refused(replaced(good, "\"pawl_export\":1", "\"pawl_export\":2"), "line 1: its format 2");
  check_refused(good.substr(0, good.size() / 2), "line ");
  for (std::size_t count = 1; count < lines.size(); ++count) {
    const std::vector<std::string> cut(lines.begin(),
                                       lines.begin() + static_cast<std::ptrdiff_t>(count));
    check_refused(joined(cut), "line " + std::to_string(count + 1) + ": the file ends here");
  }
  check_refused(good + "\n", "something follows the last line");
  check_refused(good + lines[1] + "\n", "something follows the last line");
  // A changed name in the first line is found by the last one.
  check_refused(replaced(good, "\"name\":\"stage\"", "\"name\":\"stagf\""),
                "do not have the digest");
  // The same, by somebody who knows how to compute digests.
  std::vector<std::string> twice = lines;
  twice.insert(twice.begin() + 2, lines[1]);
  check_refused(sealed(twice), "line 3: record 1 should come here");
  std::vector<std::string> swapped = lines;
  std::swap(swapped[1], swapped[2]);
  check_refused(sealed(swapped), "line 2: record 0 should come here");
  check_refused(sealed(with(0, replaced(lines[0], "\"records\":", "\"records\":9"))),
                "the numbers of records and blobs");
  check_refused(sealed(with(0, replaced(lines[0], "\"run\":\"r\"", "\"run\":\"q\""))),
                "line 2: the record does not have its chain hash");
  check_refused(sealed(with(1, replaced(lines[1], "\"input\":\"go\"", "\"input\":\"no\""))),
                "line 2: what the record shows is not what its bytes hold");
  const std::size_t blob = 3;
  REQUIRE(lines[blob].starts_with("{\"blob\""));
  check_refused(sealed(with(blob, replaced(lines[blob], "eHh4", "eHh5"))),
                "line 4: the blob's bytes do not have its digest");
  std::vector<std::string> without = lines;
  without.erase(without.begin() + blob);
  check_refused(sealed(without), "is missing");
  std::vector<std::string> early = lines;
  std::swap(early[blob], early[blob - 1]);
  check_refused(sealed(early), "is not what this record names");
  std::vector<std::string> doubled = lines;
  doubled.insert(doubled.begin() + blob, lines[blob]);
  check_refused(sealed(doubled), "line 5: this blob was there before");

  // By somebody who also knows what the first line has to say.
  const std::string other = to_hex(sha256("other"));
  check_refused(sealed(with(0, replaced(lines[0], "\"chain\":\"" + to_hex(stage.chain(RunId{"r"})),
                                        "\"chain\":\"" + other))),
                "the chain is not that of the first line");
  std::vector<std::string> behind = with(0, replaced(lines[0], "\"blobs\":1", "\"blobs\":2"));
  behind.insert(behind.end() - 1, R"({"blob":")" + other + R"(","bytes":"b3RoZXI="})");
  check_refused(sealed(behind), "there are blobs that no record names");
  check_refused(sealed(with(blob, lines[blob].substr(0, lines[blob].find("\"bytes\"")) +
                                      R"("expired_at_ms":253402300800000})")),
                "expired_at_ms is no time");
  RunStage there(a_note());
  const auto both = imported(
      there,
      sealed(with(blob, replaced(lines[blob], "\"bytes\"", "\"expired_at_ms\":5,\"bytes\""))));
  REQUIRE(both);
  CHECK(both->expired == 0);  // The bytes are there, whatever else is said.
  check_refused(sealed(with(0, replaced(lines[0], "\"look_only\":\"\"",
                                        "\"look_only\":\"" + std::string(401, 'x') + "\""))),
                "line 1: look_only is too long");
}

TEST_CASE("a file whose first record is that of another run is refused") {
  RunStage stage(a_note());
  stage.start("r");
  RunStage forged(a_note());
  write_journal(forged.journal, forged.loop, RunId{"q"}, decoded(stage.records(RunId{"r"})));

  check_refused(exported(forged, "q").text, "line 2: the first record is that of another run");
}

TEST_CASE("a blob of another length than its record says is refused") {
  RunStage stage(a_note());
  stage.tool->padding = std::string(5000, 'x');
  stage.start("r");
  std::vector<Record> records = decoded(stage.records(RunId{"r"}));
  auto& finished = std::get<ToolFinished>(records[2].event);
  const BlobRef blob = *finished.content.blob();
  finished.content = Content(BlobRef{blob.digest, blob.length + 1});
  RunStage forged(a_note());
  write_journal(forged.journal, forged.loop, RunId{"r"}, records,
                {StoredBlob{blob.digest, *stage.journal.blob(RunId{"r"}, blob.digest)}});

  check_refused(exported(forged, "r").text, "is not what this record names");
}

}  // namespace pawl
