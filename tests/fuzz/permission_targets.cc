// What a model wrote, judged and shown: shell text, and arguments before an approval.
#include <algorithm>

#include "pawl/base/utf8.h"
#include "pawl/gate/approvals/approval_render.h"
#include "pawl/gate/shell/shell_commands.h"
#include "pawl/gate/shell/shell_reader.h"
#include "pawl/gate/shell/shell_rules.h"
#include "tests/fuzz/fuzz.h"

namespace pawl::fuzz {
namespace {

std::string single_quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

void check_words(const std::vector<ShellWord>& words, std::size_t size) {
  FUZZ_CHECK(words.size() <= kShellWordsMax + 1);
  for (const ShellWord& word : words) {
    FUZZ_CHECK(word.begin <= word.end || word.begin <= size);
    FUZZ_CHECK(word.parts.size() <= kShellPartsMax);
  }
}

// What runs without a question is one command whose words mean themselves.
void check_allowed(std::string_view bytes, const ShellReading& reading, const ShellPolicy& policy) {
  FUZZ_CHECK(reading.features.none() && reading.commands.size() == 1);
  FUZZ_CHECK(reading.commands[0].assignments.empty() && reading.commands[0].redirections.empty());
  std::vector<std::string> argv;
  std::string again;
  for (const ShellWord& word : reading.commands[0].words) {
    FUZZ_CHECK(word.is_literal());
    argv.push_back(word.value());
    again += single_quoted(argv.back()) + " ";
  }
  FUZZ_CHECK(judge_argv(argv, policy).verdict == Verdict::allow);
  FUZZ_CHECK(judge_shell_and_argv(bytes, argv, policy).verdict == Verdict::allow);
  FUZZ_CHECK(again.size() > kShellBytesMax || judge_shell(again, policy).verdict == Verdict::allow);
}

bool is_harmless(std::string_view text) {
  while (!text.empty()) {
    const Utf8Step step = first_utf8(text);
    const char32_t point = step.code_point;
    const bool control = (point < 0x20 && point != '\n') || (point >= 0x7F && point < 0xA0);
    const bool turns = (point >= 0x202A && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
    if (!step.valid || control || turns) return false;
    text.remove_prefix(step.bytes);
  }
  return true;
}

// The lines of a page without their marks.
std::string unframed(std::string_view page) {
  constexpr std::size_t kMarkBytes = 4;
  std::string text;
  page.remove_prefix(page.find('\n') + 1);
  while (!page.empty()) {
    const std::size_t end = page.find('\n');
    text += page.substr(kMarkBytes, end - kMarkBytes);
    page.remove_prefix(end + 1);
  }
  return text;
}

}  // namespace

void fuzz_shell(std::string_view bytes) {
  const ShellReading reading = read_shell(bytes);
  FUZZ_CHECK((reading.outcome == ShellOutcome::understood) == reading.why.empty());
  FUZZ_CHECK(reading.commands.size() <= kShellCommandsMax);
  for (const ReadCommand& command : reading.commands) {
    check_words(command.words, bytes.size());
    check_words(command.assignments, bytes.size());
  }
  ShellPolicy policy;
  const Verdict verdict = judge_shell(bytes, policy).verdict;
  if (verdict == Verdict::allow) check_allowed(bytes, reading, policy);
  FUZZ_CHECK(reading.outcome < ShellOutcome::malformed || verdict == Verdict::deny);
  const FoundCommands found = commands_in_text(bytes);
  FUZZ_CHECK(found.commands.size() <= kFoundCommandsMax);
  // A rule can only make it stricter.
  policy.deny = {"rm", "git push --force"};
  FUZZ_CHECK(judge_shell(bytes, policy).verdict >= verdict);
  policy.grammar = ShellGrammar::lists;
  if (!matching_pattern(policy.deny, found, bytes).empty()) {
    FUZZ_CHECK(judge_shell(bytes, policy).verdict == Verdict::deny);
  }
}

void fuzz_approval(std::string_view bytes) {
  constexpr std::size_t kViewBytesMax = 256U << 10U;
  const std::string text(bytes);
  const ApprovalSubject subject{text.substr(0, text.size() % 16), text, text, text, text};
  const ApprovalView view = render_approval(subject);
  FUZZ_CHECK(is_harmless(view.text));
  FUZZ_CHECK(view.text.size() <= kViewBytesMax + 8 * bytes.size());
  std::string all;
  for (std::size_t page = 0; page < view.pages; ++page) {
    const std::string shown = render_page(subject, page);
    FUZZ_CHECK(is_harmless(shown));
    all += unframed(shown);
  }
  FUZZ_CHECK(render_page(subject, view.pages).empty());
  // A code that two pages share cannot be told from its imitation, so only one page is compared.
  if (view.pages == 1) FUZZ_CHECK(all == visible_line(bytes));
}

}  // namespace pawl::fuzz
