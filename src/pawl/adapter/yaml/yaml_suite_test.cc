// The public YAML test suite (github.com/yaml/yaml-test-suite), when it is on this machine.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "pawl/adapter/yaml/yaml.h"
#include "pawl/base/decimal.h"
#include "pawl/json.h"

namespace pawl {
namespace {

std::filesystem::path suite_folder() {
  std::filesystem::path data = "../shared/data";
  if (const char* source = std::getenv("PAWL_SOURCE_DIR")) {
    data = std::filesystem::path(source) / "../shared/data";
  }
  if (const char* set = std::getenv("PAWL_SHARED_DATA")) data = set;
  return data / "suites/yaml-test-suite/src";
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), by);
    at += by.size();
  }
}

// The suite draws the characters that an editor would not show.
std::string undrawn(std::string_view drawn) {
  std::string text(drawn);
  for (const char* tab : {"————»", "———»", "——»", "—»", "»"}) replace_all(text, tab, "\t");
  replace_all(text, "␣", " ");
  replace_all(text, "↵", "");
  replace_all(text, "←", "\r");
  replace_all(text, "⇔", "\xEF\xBB\xBF");
  replace_all(text, "∎\n", "");
  return text;
}

// What yaml.h says is refused although it is YAML.
bool is_documented(const Fault& fault) {
  static constexpr std::array<std::string_view, 8> kRefusals = {
      "anchors are not", "aliases are not",        "tags are not",  "a key is a list or a map",
      "a key is empty",  "more than one document", "duplicate key", "a carriage return without"};
  for (const std::string_view refusal : kRefusals) {
    if (fault.message.starts_with(refusal)) return true;
  }
  return false;
}

bool all_documented(const std::vector<Fault>& faults) {
  return std::all_of(faults.begin(), faults.end(), is_documented);
}

// yaml-cpp 0.7 is more lenient than YAML: continuation lines without indentation (9C9N, QB6E, DK95,
// Y79Y), comments without a space (9JBA, CVW2, X4QW), directives without a document (9MMA, B63P), a
// lone dash as a scalar (G5U8, YJV2), the escape \' (HRE5), odd indentation of blank lines (S98Z).
constexpr std::string_view kInvalidAccepted =
    "9C9N/0 9JBA/0 9MMA/0 B63P/0 CVW2/0 DK95/1 G5U8/0 HRE5/0 QB6E/0 S98Z/0 X4QW/0 Y79Y/3 YJV2/0 ";

// And stricter: no colon on the line after its key, no "?x" in a flow map, no block scalar at
// column 1 after "---", no tab on an otherwise empty line, no comment right after %YAML's number.
constexpr std::string_view kValidRefused =
    "4MUZ/0 4MUZ/1 4MUZ/2 5MUD/0 652Z/0 8KB6/0 9BXH/0 9SA2/0 DK3J/0 DK95/4 FP8R/0 HM87/1 JR7V/0 "
    "K3WX/0 NJ66/0 UT92/0 VJP3/1 W4TN/0 ZYU8/2 ";

// And wrong: a quoted scalar that is only a line break (NAT4), spaces at the very end of the text
// in a block scalar (L24T).
constexpr std::string_view kJsonDifferent = "L24T/1 NAT4/0 ";

struct Tally {
  int cases = 0;
  int refused_rightly = 0;
  int refused_as_documented = 0;
  int json_equal = 0;
  int accepted_without_json = 0;
  // The disagreements, by name.
  std::string invalid_accepted;
  std::string valid_refused;
  std::string json_different;
  std::string reasons;
};

void judge_json(const Node& root, const std::string& json, const std::string& id, Tally& tally) {
  const auto expected = parse_json(json);
  const auto found = parse_json(to_json(root));
  REQUIRE(found);
  if (!expected) {
    ++tally.accepted_without_json;  // Absent, or of an empty stream.
  } else if (equal_values(*expected, *found)) {
    ++tally.json_equal;
  } else {
    tally.json_different += id + " ";
  }
}

void judge(const Node& entry, const std::string& id, Tally& tally) {
  const Node* yaml = entry.find("yaml");
  REQUIRE(yaml != nullptr);
  const Node* json = entry.find("json");
  const bool invalid = entry.find("fail") != nullptr;
  const DocumentResult result = parse_yaml(undrawn(yaml->text()));
  ++tally.cases;
  if (invalid) {
    if (result.root) tally.invalid_accepted += id + " ";
    if (!result.root) ++tally.refused_rightly;
  } else if (result.root) {
    judge_json(*result.root, json == nullptr ? "" : std::string(json->text()), id, tally);
  } else if (all_documented(result.faults)) {
    ++tally.refused_as_documented;
  } else {
    tally.valid_refused += id + " ";
    tally.reasons += "\n  " + to_string(result.faults.back(), id);
  }
}

// The suite's own files are read with the parser under test. The numbers are what was found; a
// change is to be looked at, and written down when it is for the better.
TEST_CASE("the public YAML suite is decided as far as the parser can") {
  const auto folder = suite_folder();
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped all 406 cases: no " << folder.string());
    return;
  }
  std::vector<std::filesystem::path> files(std::filesystem::directory_iterator(folder), {});
  std::sort(files.begin(), files.end());
  Tally tally;
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const DocumentResult suite = parse_yaml(text);
    const std::string id = path.stem().string();
    REQUIRE_MESSAGE(suite.root.has_value(), to_string(suite.faults, id));
    int number = 0;
    for (const Node& entry : suite.root->items()) {
      judge(entry, id + "/" + std::to_string(number++), tally);
    }
  }
  MESSAGE("YAML suite: " << tally.cases << " cases; invalid refused " << tally.refused_rightly
                         << ", refused as documented " << tally.refused_as_documented
                         << ", JSON equal " << tally.json_equal << ", accepted without JSON "
                         << tally.accepted_without_json);
  MESSAGE("invalid but accepted: " << tally.invalid_accepted
                                   << "\nJSON different: " << tally.json_different
                                   << "\nvalid but refused:" << tally.reasons);
  CHECK(tally.cases == 406);
  CHECK(tally.refused_rightly == 81);
  CHECK(tally.refused_as_documented == 89);
  CHECK(tally.json_equal == 186);
  CHECK(tally.invalid_accepted == kInvalidAccepted);
  CHECK(tally.valid_refused == kValidRefused);
  CHECK(tally.json_different == kJsonDifferent);
}

}  // namespace
}  // namespace pawl
