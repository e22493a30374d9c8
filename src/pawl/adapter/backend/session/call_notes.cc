#include "pawl/adapter/backend/session/call_notes.h"

#include <algorithm>
#include <array>

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

// What the kernel says about a place that is mounted over itself, in the words of libc.
constexpr std::array<std::string_view, 3> kComplaints = {
    "Read-only file system", "Device or resource busy", "Permission denied"};

bool complains(std::string_view line) {
  return std::any_of(kComplaints.begin(), kComplaints.end(), [&](std::string_view complaint) {
    return line.find(complaint) != std::string_view::npos;
  });
}

// As a whole word of a path: ".git" is not in "x.gitignore".
bool names(std::string_view line, std::string_view name) {
  for (std::size_t at = line.find(name); at != std::string_view::npos;
       at = line.find(name, at + 1)) {
    constexpr std::string_view kBefore = " /'\"`";
    constexpr std::string_view kBehind = " /'\"`:\n";
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || kBefore.find(line[at - 1]) != std::string_view::npos;
    const bool ends = end == line.size() || kBehind.find(line[end]) != std::string_view::npos;
    if (begins && ends) return true;
  }
  return false;
}

std::string note_for(std::string_view line, const ExecutionContext& context) {
  for (const std::string& name : context.protected_names) {
    if (names(line, name)) {
      return "[" + name + " is protected here: it can be read, and not written.]\n";
    }
  }
  for (const std::string& path : context.protected_places) {
    const std::string name = path.substr(path.rfind('/') + 1);
    if (names(line, name)) {
      return "[" + name + " is protected here: it can be read, and not written.]\n";
    }
  }
  for (const std::string& name : context.asked_names) {
    if (names(line, name)) {
      return "[" + name +
             " is read-only for commands: create_file, str_replace and apply_patch can write it "
             "after a question to a person.]\n";
    }
  }
  for (const std::string& name : context.hidden_names) {
    if (names(line, name)) {
      return "[" + name + " holds credentials: no tool can read or write it.]\n";
    }
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

std::string protected_note(std::string_view output, const ExecutionContext& context) {
  output = output.substr(0, kNotedOutputBytesMax);
  while (!output.empty()) {
    const std::string_view line = output.substr(0, output.find('\n'));
    output.remove_prefix(std::min(output.size(), line.size() + 1));
    if (!complains(line)) continue;
    if (std::string note = note_for(line, context); !note.empty()) return note;
  }
  return {};
}

}  // namespace pawl::backend
