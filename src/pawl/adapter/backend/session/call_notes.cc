#include "pawl/adapter/backend/session/call_notes.h"

namespace pawl::backend {

namespace {

std::string describe(std::string_view who, BackendOutcome::Kind kind, const PumpLimits& limits) {
  using Kind = BackendOutcome::Kind;
  const auto sentence = [who](const std::string& what) {
    return "[" + std::string(who) + ": " + what + ".]\n";
  };
  switch (kind) {
    case Kind::timed_out:
      return sentence("it ran into its limit of " + std::to_string(limits.time_ms) + " ms");
    case Kind::aborted:
      return sentence("it was aborted");
    case Kind::memory:
      return sentence("it used more than " + std::to_string(limits.session.memory_bytes) +
                      " bytes of memory");
    case Kind::cpu:
      return sentence("it used more than " + std::to_string(limits.session.cpu_ms) +
                      " ms of processor time");
    case Kind::processes:
      return sentence("it had " + std::to_string(limits.session.processes) +
                      " processes, which is the limit");
    case Kind::disk:
      return sentence("it wrote more than " + std::to_string(limits.session.disk_bytes) + " bytes");
    case Kind::killed:
      return sentence("a signal ended its process; what it had done by then is not known");
    case Kind::ok:
    case Kind::failed:
    case Kind::denied:
      break;
  }
  return {};
}

}  // namespace

std::string describe_limit(BackendOutcome::Kind kind, const PumpLimits& limits) {
  return describe("The call was ended, with all that it had started", kind, limits);
}

std::string describe_end_of_jobs(BackendOutcome::Kind kind, const PumpLimits& limits) {
  return describe("What earlier calls had left running was ended, with the shell", kind, limits);
}

std::string describe_git(const std::vector<std::string>& said) {
  std::string text;
  for (const std::string& sentence : said) text += "[git: " + sentence + ".]\n";
  return text;
}

std::string describe_denial(const std::vector<std::string>& said) {
  std::string text;
  for (const std::string& sentence : said) text += "[Denied: " + sentence + ".]\n";
  return text;
}

}  // namespace pawl::backend
