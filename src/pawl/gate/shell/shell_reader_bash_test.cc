// The reader beside real bash: what it calls literal, bash must see as the same words; what it
// understands, bash must accept.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "pawl/base/rng.h"
#include "pawl/gate/shell/shell_commands.h"
#include "pawl/gate/shell/shell_reader.h"

namespace pawl {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSeed = 20'240'607;

// A directory of its own, gone afterwards.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "pawl-shell-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
    fs::create_directory(path_ / "empty");
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // Runs `script` with `cases`, each ended by a NUL, on standard input. No program can be found.
  std::string bash(const std::string& script, const std::vector<std::string>& cases) const {
    std::ofstream(path_ / "script", std::ios::binary) << "PATH=/nonexistent\n" << script;
    std::ofstream input(path_ / "cases", std::ios::binary);
    for (const std::string& one : cases) input << one << '\0';
    input.close();
    const std::string command = "cd '" + (path_ / "empty").string() +
                                "' && LC_ALL=C bash --norc ../script <../cases >../out 2>/dev/null";
    // Its status is that of the last case, and says nothing.
    [[maybe_unused]] const int status = std::system(command.c_str());  // NOLINT: a fixed command
    std::ifstream out(path_ / "out", std::ios::binary);
    return {std::istreambuf_iterator<char>(out), {}};
  }

 private:
  fs::path path_;
};

bool have_bash() {
  if (std::system("bash -c : 2>/dev/null") == 0) return true;  // NOLINT: a fixed command
  MESSAGE("skipped: there is no bash");
  return false;
}

std::vector<std::string> split_at_nul(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// The words after the first, if the reader is sure of all of them.
std::optional<std::vector<std::string>> literal_arguments(const std::string& text) {
  const ShellReading reading = read_shell(text);
  if (reading.outcome != ShellOutcome::understood || reading.commands.size() != 1) return {};
  if (!reading.features.only({ShellFeature::line_join, ShellFeature::comment, ShellFeature::control,
                              ShellFeature::not_ascii, ShellFeature::ansi_quote})) {
    return {};
  }
  std::vector<std::string> words;
  for (const ShellWord& word : reading.commands[0].words) {
    if (!word.is_literal()) return {};
    words.push_back(word.value());
  }
  words.erase(words.begin());
  return words;
}

const std::vector<std::string> kPieces = {
    "a",   "b",    "'",        "\"",      "\\",   " ",        "  ",    "\t",   "\n",    "\\\n",
    "$",   "$'",   "#",        "=",       "~",    ":",        "{",     "}",    "[",     "]",
    "!",   "-",    "*",        "?",       "^",    "%",        "@",     "+",    ",",     ".",
    "..",  "/",    "`",        "$x",      "${x",  "$(",       ")",     "(",    ";",     "&",
    "|",   "<",    ">",        "\r",      "\x7f", "\xc3\xa4", "\\x41", "\\n",  "'a b'", "\"c d\"",
    "\\'", "\\\"", "$'\\101'", "$'\\'x'", "{}",   "x=",       "1",     "\\\\", "''"};

std::string random_text(Rng& rng, const std::vector<std::string>& pieces, std::size_t pieces_max) {
  std::string text;
  for (std::uint64_t left = rng.below(pieces_max) + 1; left > 0; --left) text += rng.pick(pieces);
  return text;
}

TEST_CASE("bash sees the same words") {
  if (!have_bash()) return;
  Rng rng(kSeed);
  std::vector<std::string> cases;
  std::vector<std::vector<std::string>> claimed;
  for (int i = 0; i < 60'000; ++i) {
    std::string text = "show " + random_text(rng, kPieces, 9);
    auto words = literal_arguments(text);
    if (!words) continue;
    cases.push_back(std::move(text));
    claimed.push_back(std::move(*words));
  }
  CHECK(cases.size() > 8'000);
  const Scratch scratch;
  const auto seen = split_at_nul(
      scratch.bash("show() { printf '%s\\0' \"$#\" \"$@\"; }\n"
                   "while IFS= read -r -d '' t; do eval \"$t\" </dev/null; printf 'END\\0'; done\n",
                   cases));
  std::size_t at = 0;
  std::size_t differing = 0;
  for (std::size_t i = 0; i < cases.size() && differing < 5; ++i) {
    std::vector<std::string> expected = {std::to_string(claimed[i].size())};
    expected.insert(expected.end(), claimed[i].begin(), claimed[i].end());
    expected.emplace_back("END");
    const std::size_t left = seen.size() - at;
    std::vector<std::string> found(
        seen.begin() + static_cast<std::ptrdiff_t>(at),
        seen.begin() + static_cast<std::ptrdiff_t>(at + std::min(left, expected.size())));
    if (found != expected) {
      ++differing;
      CHECK_MESSAGE(found == expected, cases[i]);
      break;  // Behind it nothing lines up any more.
    }
    at += expected.size();
  }
  CHECK(at == seen.size());
}

const std::vector<std::string> kTokens = {
    "a",     "b",     " ",      " ",    " ",           ";",         "\n",         "&",
    "|",     "&&",    "||",     "( ",   ") ",          "{ ",        "if ",        "then ",
    "fi ",   "else ", "while ", "do ",  "done ",       "for x in ", "case a in ", "esac ",
    ";; ",   "! ",    "time ",  "$(",   "`",           ">",         "<",          ">>",
    "2>&1",  "<<<",   "x=1 ",   "f() ", "function f ", "[[ ",       "]] ",        "'q'",
    "\"d\"", "$x",    "${x}",   "#",    "coproc ",     "elif ",     "in ",        "a) ",
    "<(",    ">&",    "&>",     "|&",   "until ",      "\\",        "((1",        "))"};

TEST_CASE("bash accepts what the reader understands") {
  if (!have_bash()) return;
  Rng rng(kSeed + 1);
  std::vector<std::string> cases;
  for (int i = 0; i < 400'000 && cases.size() < 1'200; ++i) {
    std::string text = random_text(rng, kTokens, 12);
    const ShellReading reading = read_shell(text);
    // Of [[ ]] only the words are read, not the grammar.
    if (text.find("[[") != std::string::npos) continue;
    // Short ones would crowd out the others.
    const bool plain = reading.features.only({ShellFeature::list, ShellFeature::comment,
                                              ShellFeature::expansion, ShellFeature::background});
    if (reading.outcome != ShellOutcome::understood || reading.commands.empty() || plain) continue;
    cases.push_back(std::move(text));
  }
  CHECK(cases.size() == 1'200);
  const Scratch scratch;
  // A subshell that would run the text if its "}" closed the function; it could find nothing to
  // run.
  const std::string verdicts = scratch.bash(
      "while IFS= read -r -d '' t; do\n"
      "if ( eval \"zz() {\n$t\n}\" ) </dev/null; then printf y; else printf n; fi; done\n",
      cases);
  REQUIRE(verdicts.size() == cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CHECK_MESSAGE(verdicts[i] == 'y', cases[i]);
  }
}

// Loops that could run for ever are left out.
const std::vector<std::string> kRunnable = {"a ",      "b ",
                                            "c",       " ",
                                            ";",       "\n",
                                            "& ",      "| ",
                                            "&& ",     "|| ",
                                            "( ",      ") ",
                                            "{ ",      "; } ",
                                            "if ",     "then ",
                                            "fi ",     "else ",
                                            "elif ",   "for x in 1; do ",
                                            "done ",   "! ",
                                            "time ",   "$(",
                                            ")",       "`",
                                            ">y ",     "2>&1 ",
                                            "<<<z ",   "case a in a) ",
                                            ";; ",     "esac ",
                                            "f() ",    "f ",
                                            "'q' ",    "\"d\" ",
                                            "\"$(",    ")\" ",
                                            "${x:-$(", ")} ",
                                            "<(",      "x=1 ",
                                            "\\",      "#",
                                            "$((1)) ", "bash -c 'e' ",
                                            "eval g ", "<<E\n$(h)\nE\n",
                                            "in "};

bool names_are_literal(const ShellReading& reading) {
  return std::all_of(reading.commands.begin(), reading.commands.end(), [](const auto& command) {
    return command.words.empty() || command.words[0].is_literal();
  });
}

TEST_CASE("whatever bash runs, the reader has found") {
  if (!have_bash()) return;
  constexpr std::size_t kTexts = 600;
  Rng rng(kSeed + 2);
  std::vector<std::string> cases;
  for (int i = 0; i < 2'000'000 && cases.size() < kTexts; ++i) {
    std::string text = random_text(rng, kRunnable, 14);
    const ShellReading reading = read_shell(text);
    const bool plain = reading.features.only({ShellFeature::list, ShellFeature::comment});
    if (reading.outcome != ShellOutcome::understood || plain || !names_are_literal(reading))
      continue;
    cases.push_back(std::move(text));
  }
  CHECK(cases.size() == kTexts);
  const Scratch scratch;
  // Nothing can be found, so bash tells us what it looked for.
  const auto seen = split_at_nul(
      scratch.bash("exec 9>&1 1>/dev/null\nFUNCNEST=20\n"
                   "command_not_found_handle() { printf '%s\\0' \"$1\" >&9; return 1; }\n"
                   "while IFS= read -r -d '' t; do ( eval \"$t\"; wait ) </dev/null; printf "
                   "'END\\0' >&9; done\n",
                   cases));
  std::size_t at = 0;
  std::size_t ran = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const FoundCommands found = commands_in_text(cases[i]);
    for (; at < seen.size() && seen[at] != "END"; ++at, ++ran) {
      const bool known = std::any_of(found.commands.begin(), found.commands.end(),
                                     [&](const auto& argv) { return argv.at(0) == seen[at]; });
      CHECK_MESSAGE(known, cases[i] << " ran " << seen[at]);
    }
    ++at;
  }
  CHECK(at == seen.size());
  CHECK(ran > kTexts / 2);
}

}  // namespace
}  // namespace pawl
