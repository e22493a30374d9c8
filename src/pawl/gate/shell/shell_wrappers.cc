#include "pawl/gate/shell/shell_wrappers.h"

#include <algorithm>
#include <array>

#include "pawl/gate/shell/shell_commands.h"

namespace pawl {
namespace {

using Words = std::span<const CommandWord>;

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::array<std::string_view, 10> kShells = {"sh",  "bash", "dash",  "ash",  "zsh",
                                                      "ksh", "mksh", "rbash", "fish", "su"};
// Programs whose arguments hold another command. Of the first ones the command is the first word
// that is neither an option nor an option's value.
constexpr std::array<std::string_view, 27> kPlainWrappers = {
    "env",      "nice",    "nohup",   "timeout",   "command",     "exec",     "builtin",
    "time",     "stdbuf",  "setsid",  "sudo",      "doas",        "xargs",    "ionice",
    "busybox",  "toybox",  "strace",  "ltrace",    "systemd-run", "fakeroot", "valgrind",
    "unbuffer", "prlimit", "setpriv", "eatmydata", "sudo-rs",     "catchsegv"};
constexpr std::array<std::string_view, 40> kOtherWrappers = {"chroot",
                                                             "watch",
                                                             "gdb",
                                                             "unshare",
                                                             "nsenter",
                                                             "flock",
                                                             "parallel",
                                                             "chrt",
                                                             "taskset",
                                                             "runuser",
                                                             "script",
                                                             "ssh",
                                                             "chpst",
                                                             "perf",
                                                             "xvfb-run",
                                                             "podman",
                                                             "docker",
                                                             "rlwrap",
                                                             "setarch",
                                                             "linux32",
                                                             "linux64",
                                                             "i386",
                                                             "x86_64",
                                                             "choom",
                                                             "sg",
                                                             "screen",
                                                             "tmux",
                                                             "torsocks",
                                                             "proxychains",
                                                             "proxychains4",
                                                             "faketime",
                                                             "numactl",
                                                             "bwrap",
                                                             "firejail",
                                                             "cpulimit",
                                                             "ssh-agent",
                                                             "run0",
                                                             "pkexec",
                                                             "dbus-run-session",
                                                             "start-stop-daemon"};
// Those that take a text behind -c, as shells do, and those of which any word may be one.
constexpr std::array<std::string_view, 3> kTextBehindC = {"flock", "script", "runuser"};
constexpr std::array<std::string_view, 7> kTextAnywhere = {"trap", "ssh",  "watch", "parallel",
                                                           "sg",   "tmux", "screen"};
// They add words to the command that they are given.
constexpr std::array<std::string_view, 2> kAppenders = {"xargs", "parallel"};

// What it prints is its words, as they are written.
bool prints_its_words(const ReadCommand& command) {
  const std::string name(command_base_name(command.words[0].value()));
  if (name == "cat") return command.words.size() == 1 && command.words[0].is_literal();
  if (name != "echo" && name != "printf") return false;
  return std::all_of(command.words.begin(), command.words.end(), [&](const ShellWord& word) {
    const std::string value = with_line_ends(word.value());
    const bool format = name == "printf" && value.find('%') != std::string::npos;
    return word.is_literal() && !format && value.find('\\') == std::string::npos;
  });
}

// Options of xargs that no value follows: -0, -n1, -I{}.
bool is_whole_option(std::string_view program, std::string_view word) {
  if (program != "xargs" || !is_dashed(word)) return false;
  if (word.find_first_not_of("0rtx", 1) == std::string_view::npos) return true;
  return word.size() > 2 && std::string_view("InPLds").find(word[1]) != std::string_view::npos;
}

}  // namespace

bool is_shell_program(std::string_view program) {
  return is_one_of(kShells, program);
}

bool is_appender(std::string_view program) {
  return is_one_of(kAppenders, program);
}

bool takes_text_behind_c(std::string_view program) {
  return is_one_of(kTextBehindC, program);
}

bool takes_text_anywhere(std::string_view program) {
  return is_one_of(kTextAnywhere, program);
}

bool is_wrapper(std::string_view program) {
  // The loader, too: ld-linux-x86-64.so.2 /bin/rm.
  return is_one_of(kPlainWrappers, program) || is_one_of(kOtherWrappers, program) ||
         program.starts_with("ld-") || program == "ld.so";
}

bool runs_what_it_reads(std::string_view program) {
  return is_one_of(kShells, program) || program == "source" || program == "." || program == "at" ||
         program == "batch";
}

bool is_dashed(std::string_view word) {
  return word.size() > 1 && word.front() == '-';
}

bool has_letter_c(std::string_view word) {
  return word == "--command" ||
         (is_dashed(word) && word[1] != '-' && word.find('c') != std::string_view::npos);
}

bool reads_its_input(Words words) {
  for (const CommandWord& word : words.subspan(1)) {
    if (!word.is_literal()) return true;  // <(...), or a name that may be /dev/stdin
    if (has_letter_c(word.value) || word.value.starts_with("--command=")) return false;
    if (is_dashed(word.value) && word.value[1] != '-' &&
        word.value.find('s') != std::string::npos) {
      return true;  // -s
    }
    if (!is_dashed(word.value)) {
      return word.value == "-" || word.value.starts_with("/dev/") ||
             word.value.starts_with("/proc/");
    }
  }
  return true;
}

std::string with_line_ends(std::string text) {
  for (std::size_t at = 0; (at = text.find("\\n", at)) != std::string::npos; ++at) {
    text.replace(at, 2, "\n");
  }
  return text;
}

bool is_input_known(const ShellReading& reading) {
  for (const ShellDocument& document : reading.documents) {
    if (!document.quoted && document.body.find_first_of("$`\\") != std::string::npos) return false;
  }
  const bool piped = reading.features.has(ShellFeature::pipeline) ||
                     reading.features.has(ShellFeature::substitution);
  for (const ReadCommand& command : reading.commands) {
    for (const ShellRedirection& one : command.redirections) {
      if (one.operation.ends_with("<<<") && !one.target.is_literal()) return false;
    }
    if (!piped || command.words.empty() || prints_its_words(command)) continue;
    const std::string name(command_base_name(command.words[0].value()));
    if (!runs_what_it_reads(name) && !is_wrapper(name)) return false;
  }
  return true;
}

bool is_setting(const CommandWord& word) {
  return word.form == CommandWord::Form::one &&
         word.shape.find('=') < word.shape.find_first_of("*?/");
}

bool begins_before(Words words, std::size_t at) {
  const std::string_view program = command_base_name(words[0].value);
  if (!is_one_of(kPlainWrappers, program)) return false;
  for (std::size_t i = 1; i < at; ++i) {
    const std::string& value = words[i].value;
    const bool plain = words[i].is_literal() && !value.empty() && value.front() != '-' &&
                       value.find('=') == std::string::npos &&
                       (value.front() < '0' || value.front() > '9');
    const std::string& before = words[i - 1].value;
    if (plain && (!is_dashed(before) || is_whole_option(program, before))) return true;
  }
  return false;
}

std::string replaced_by(Words words) {
  constexpr std::string_view kLong = "--replace";
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& value = words[i].value;
    if (value == "-I" && i + 1 < words.size()) return words[i + 1].value;
    if (value.starts_with("-I") && value.size() > 2) return value.substr(2);
    if (value == "-i" || value == kLong) return "{}";
    if (value.starts_with("-i")) return value.substr(2);
    if (value.starts_with("--replace=")) return value.substr(kLong.size() + 1);
  }
  return {};
}

std::vector<CommandWord> with_unknown(Words words, std::string_view replaced) {
  std::vector<CommandWord> result(words.begin(), words.end());
  for (CommandWord& word : result) {
    const bool holds = !replaced.empty() && word.value.find(replaced) != std::string::npos;
    if (word.is_literal() && holds && !is_dashed(word.value)) {
      word = CommandWord::unknown(word.value);
    }
  }
  return result;
}

}  // namespace pawl
