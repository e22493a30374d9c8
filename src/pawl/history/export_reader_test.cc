#include "pawl/history/export_reader.h"

#include <doctest/doctest.h>

#include "pawl/testing/stage/exported_run_test.h"

namespace pawl {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

// A sound file with one blob, and what somebody may make of it.
struct Sound {
  RunStage stage{a_note()};
  std::string good;
  std::vector<std::string> lines;
  static constexpr std::size_t kBlob = 3;  // the line that holds it

  Sound() {
    stage.tool->padding = std::string(5000, 'x');
    stage.start("r");
    good = exported(stage, "r").text;
    lines = lines_of(good);
    REQUIRE(lines.size() >= 6);
    REQUIRE(lines[kBlob].starts_with("{\"blob\""));
  }
  std::vector<std::string> with(std::size_t index, const std::string& line) const {
    std::vector<std::string> changed = lines;
    changed[index] = line;
    return changed;
  }
};

}  // namespace

TEST_CASE("files that were tampered with are refused with the line that shows it") {
  const Sound sound;
  const std::string& good = sound.good;
  const std::vector<std::string>& lines = sound.lines;

  check_refused("", "line 1: the file ends here");
  check_refused("hello\n", "line 1: not JSON");
  check_refused("{}\n", "line 1: this is not a run");
  check_refused(replaced(good, "\"pawl_export\":2", "\"pawl_export\":3"), "line 1: its format 3");
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
}

TEST_CASE("files of somebody who knows how to compute digests are refused, too") {
  const Sound sound;
  const std::vector<std::string>& lines = sound.lines;
  const std::size_t blob = Sound::kBlob;
  std::vector<std::string> twice = lines;
  twice.insert(twice.begin() + 2, lines[1]);
  check_refused(sealed(twice), "line 3: record 1 should come here");
  std::vector<std::string> swapped = lines;
  std::swap(swapped[1], swapped[2]);
  check_refused(sealed(swapped), "line 2: record 0 should come here");
  check_refused(sealed(sound.with(0, replaced(lines[0], "\"records\":", "\"records\":9"))),
                "the numbers of records and blobs");
  check_refused(sealed(sound.with(0, replaced(lines[0], "\"run\":\"r\"", "\"run\":\"q\""))),
                "line 2: the record does not have its chain hash");
  check_refused(sealed(sound.with(1, replaced(lines[1], "\"input\":\"go\"", "\"input\":\"no\""))),
                "line 2: what the record shows is not what its bytes hold");
  check_refused(sealed(sound.with(blob, replaced(lines[blob], "eHh4", "eHh5"))),
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
}

TEST_CASE("what the first line says and a blob's line may say is held to") {
  Sound sound;
  const std::vector<std::string>& lines = sound.lines;
  const std::size_t blob = Sound::kBlob;
  const std::string other = to_hex(sha256("other"));
  check_refused(sealed(sound.with(
                    0, replaced(lines[0], "\"chain\":\"" + to_hex(sound.stage.chain(RunId{"r"})),
                                "\"chain\":\"" + other))),
                "the chain is not that of the first line");
  std::vector<std::string> behind = sound.with(0, replaced(lines[0], "\"blobs\":1", "\"blobs\":2"));
  behind.insert(behind.end() - 1, R"({"blob":")" + other + R"(","bytes":"b3RoZXI="})");
  check_refused(sealed(behind), "there are blobs that no record names");
  check_refused(sealed(sound.with(blob, lines[blob].substr(0, lines[blob].find("\"bytes\"")) +
                                            R"("expired_at_ms":253402300800000})")),
                "expired_at_ms is no time");
  RunStage there(a_note());
  const auto both = imported(
      there, sealed(sound.with(
                 blob, replaced(lines[blob], "\"bytes\"", "\"expired_at_ms\":5,\"bytes\""))));
  REQUIRE(both);
  CHECK(both->expired == 0);  // The bytes are there, whatever else is said.
  check_refused(sealed(sound.with(0, replaced(lines[0], "\"look_only\":\"\"",
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
