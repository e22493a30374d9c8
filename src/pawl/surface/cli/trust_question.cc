#include "pawl/surface/cli/trust_question.h"

#include <termios.h>
#include <unistd.h>

#include <iostream>

#include "pawl/surface/cli/escape.h"
#include "pawl/surface/cli/interactive.h"

namespace pawl {
namespace {

// What was typed before the question was there is no answer to it.
bool says_yes(const CliContext& context, const FileQuestion& question) {
  print(context, safe_text(question.why) + "\n" + question.change);
  ::tcflush(STDIN_FILENO, TCIFLUSH);
  print(context, "trust " + safe_line(question.path, 400) + " as it is now? [y]es, [n]o: ");
  std::string line;
  return std::getline(std::cin, line) && (line == "y" || line == "yes");
}

}  // namespace

bool person_trusts(const CliContext& context, const std::vector<FileQuestion>& questions) {
  if (!can_ask(context)) return false;
  for (const FileQuestion& question : questions) {
    if (!says_yes(context, question)) return false;
    const Status trusted = context.environment.trust_file(question);
    if (!trusted) print_stderr(context, trusted.error().message);
    if (!trusted) return false;
  }
  return true;
}

AgentReading read_trusted_agent(const CliContext& context, const std::string& path) {
  AgentReading reading = context.environment.read_agent(path);
  for (int round = 0; round < kTrustRoundsMax && !reading.questions.empty(); ++round) {
    if (!person_trusts(context, reading.questions)) break;
    reading = context.environment.read_agent(path);
  }
  return reading;
}

Status resume_trusted(const CliContext& context, const std::function<Status()>& resume) {
  Status resumed = resume();
  for (int round = 0; round < kTrustRoundsMax && !resumed; ++round) {
    const std::vector<FileQuestion> questions = context.environment.open_questions();
    if (questions.empty() || !person_trusts(context, questions)) break;
    resumed = resume();
  }
  return resumed;
}

}  // namespace pawl
