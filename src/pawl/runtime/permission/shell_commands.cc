#include "pawl/runtime/permission/shell_commands.h"

#include <algorithm>
#include <array>

#include "pawl/runtime/permission/glob.h"
#include "pawl/runtime/permission/reach.h"

namespace pawl {
namespace {

using Argv = std::span<const std::string>;

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::array<std::string_view, 10> kShells = {"sh",  "bash", "dash",  "ash",  "zsh",
                                                      "ksh", "mksh", "rbash", "fish", "su"};
// Programs whose arguments hold another command.
constexpr std::array<std::string_view, 66> kWrappers = {
    "env",         "nice",     "nohup",    "timeout",  "command",     "exec",
    "builtin",     "time",     "stdbuf",   "setsid",   "sudo",        "doas",
    "xargs",       "ionice",   "chroot",   "busybox",  "toybox",      "watch",
    "strace",      "ltrace",   "gdb",      "unshare",  "nsenter",     "flock",
    "parallel",    "chrt",     "taskset",  "runuser",  "setpriv",     "prlimit",
    "systemd-run", "script",   "ssh",      "chpst",    "fakeroot",    "perf",
    "valgrind",    "xvfb-run", "podman",   "docker",   "rlwrap",      "setarch",
    "linux32",     "linux64",  "i386",     "x86_64",   "choom",       "sg",
    "screen",      "tmux",     "unbuffer", "torsocks", "proxychains", "proxychains4",
    "eatmydata",   "faketime", "numactl",  "bwrap",    "firejail",    "cpulimit",
    "ssh-agent",   "run0",     "sudo-rs",  "pkexec",   "catchsegv",   "dbus-run-session"};
// Those that take a text behind -c, as shells do, and those of which any word may be one.
constexpr std::array<std::string_view, 3> kTextBehindC = {"flock", "script", "runuser"};
constexpr std::array<std::string_view, 7> kTextAnywhere = {"trap", "ssh",  "watch", "parallel",
                                                           "sg",   "tmux", "screen"};

bool is_wrapper(std::string_view program) {
  // The loader, too: ld-linux-x86-64.so.2 /bin/rm.
  return is_one_of(kWrappers, program) || program.starts_with("ld-") || program == "ld.so";
}

// Runs what it reads: a here-document, a pipe, a process substitution.
bool runs_what_it_reads(std::string_view program) {
  return is_one_of(kShells, program) || program == "source" || program == ".";
}

// As they are printed: "a\\nb" is two lines.
std::string with_line_ends(std::string text) {
  for (std::size_t at = 0; (at = text.find("\\n", at)) != std::string::npos; ++at) {
    text.replace(at, 2, "\n");
  }
  return text;
}

class Finder {
 public:
  FoundCommands found;

  void text(std::string_view text, std::size_t depth) {
    if (depth > kFoundDepthMax) return note(ShellOutcome::too_much, "shells in shells, too deep");
    const ShellReading reading = read_shell(text);
    if (reading.outcome != ShellOutcome::understood) {
      // Not every argument that may be a text is one.
      const bool guess = depth > 0 && reading.outcome == ShellOutcome::malformed;
      note(guess ? ShellOutcome::unsupported : reading.outcome,
           reading.why + " at byte " + std::to_string(reading.at));
    }
    const std::size_t before = found.commands.size();
    for (const ReadCommand& one : reading.commands) {
      std::vector<std::string> words;
      for (const ShellWord& word : one.words) words.push_back(word.value());
      argv(words, depth);
    }
    const bool runs = std::any_of(
        found.commands.begin() + static_cast<std::ptrdiff_t>(before), found.commands.end(),
        [](const auto& words) { return runs_what_it_reads(base_name(words[0])); });
    if (runs) given_texts(reading, depth);
  }

  void argv(Argv words, std::size_t depth) {
    if (words.empty()) return;
    if (depth > kFoundDepthMax || found.commands.size() >= kFoundCommandsMax) {
      return note(ShellOutcome::too_much,
                  "more than " + std::to_string(kFoundCommandsMax) + " commands");
    }
    found.commands.emplace_back(words.begin(), words.end());
    inner_texts(words, depth);
    if (!is_wrapper(base_name(words[0]))) return;
    // Which word begins the inner command depends on the wrapper's options: take every one, the
    // wrappers among them not again.
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (found.commands.size() >= kFoundCommandsMax) {
        return note(ShellOutcome::too_much, "too many words after a wrapper");
      }
      const Argv rest = words.subspan(i);
      found.commands.emplace_back(rest.begin(), rest.end());
      inner_texts(rest, depth);
    }
  }

 private:
  // What a shell may be given to read by the text it stands in.
  void given_texts(const ShellReading& reading, std::size_t depth) {
    for (const std::string& body : reading.documents) text(body, depth + 1);
    for (const ReadCommand& one : reading.commands) {
      for (const ShellRedirection& redirection : one.redirections) {
        if (redirection.operation.ends_with("<<<")) text(redirection.target.value(), depth + 1);
      }
      printed_texts(one, depth);
    }
  }

  // echo prints its words as one text, printf each of them.
  void printed_texts(const ReadCommand& command, std::size_t depth) {
    if (command.words.empty()) return;
    const std::string program = command.words[0].value();
    const bool echo = base_name(program) == "echo";
    if (!echo && base_name(program) != "printf") return;
    std::string said;
    for (std::size_t i = 1; i < command.words.size(); ++i) {
      const std::string word = with_line_ends(command.words[i].value());
      if (!echo) text(word, depth + 1);
      if (echo && (!said.empty() || !word.starts_with('-'))) said += word + " ";
    }
    if (echo) text(said, depth + 1);
  }

  void note(ShellOutcome outcome, std::string why) {
    if (outcome <= found.outcome) return;
    found.outcome = outcome;
    found.why = std::move(why);
  }

  // Arguments that are shell text themselves.
  void inner_texts(Argv words, std::size_t depth) {
    const std::string_view program = base_name(words[0]);
    if (program == "find") return find_actions(words, depth);
    if (is_one_of(kShells, program) || is_one_of(kTextBehindC, program)) {
      return shell_text(words, depth);
    }
    if (program == "eval") {
      std::string joined;
      for (const std::string& word : words.subspan(1)) joined += word + " ";
      return text(joined, depth + 1);
    }
    if (program == "alias") {
      for (const std::string& word : words.subspan(1)) {
        if (const std::size_t equals = word.find('='); equals != std::string::npos) {
          text(std::string_view(word).substr(equals + 1), depth + 1);
        }
      }
      return;
    }
    if (is_one_of(kTextAnywhere, program)) {
      for (const std::string& word : words.subspan(1)) text(word, depth + 1);
      return;
    }
    if (program == "mapfile" || program == "readarray" || program == "env") {
      option_text(words, program == "env" ? "-S" : "-C", depth);
      if (program == "env") option_text(words, "--split-string", depth);
    }
  }

  void find_actions(Argv words, std::size_t depth) {
    constexpr std::array<std::string_view, 4> kActions = {"-exec", "-execdir", "-ok", "-okdir"};
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
      if (is_one_of(kActions, words[i])) argv(words.subspan(i + 1), depth + 1);
    }
  }

  void shell_text(Argv words, std::size_t depth) {
    constexpr std::string_view kAttached = "--command=";
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::string& word = words[i];
      if (word.starts_with(kAttached)) text(word.substr(kAttached.size()), depth + 1);
      const bool takes =
          word == "--command" || (word.size() > 1 && word[0] == '-' && word[1] != '-' &&
                                  word.find('c') != std::string::npos);
      if (!takes) continue;
      // Options may stand between -c and the text.
      for (const std::string& later : words.subspan(i + 1)) text(later, depth + 1);
      return;
    }
  }

  void option_text(Argv words, std::string_view option, std::size_t depth) {
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i] == option && i + 1 < words.size()) {
        text(words[i + 1], depth + 1);
      } else if (words[i].starts_with(option) && words[i].size() > option.size()) {
        const std::size_t skip = option.size() + (words[i][option.size()] == '=' ? 1 : 0);
        text(std::string_view(words[i]).substr(skip), depth + 1);
      }
    }
  }
};

bool is_option(std::string_view word) {
  return word.size() > 1 && word.front() == '-';
}

bool has_short_flag(Argv argv, char flag) {
  return std::any_of(argv.begin(), argv.end(), [flag](const std::string& word) {
    return is_option(word) && word[1] != '-' && word.find(flag, 1) != std::string::npos;
  });
}

bool has_option(Argv argv, std::string_view pattern) {
  if (pattern.starts_with("--")) {
    return std::any_of(argv.begin(), argv.end(), [pattern](std::string_view word) {
      word = word.substr(0, word.find('='));
      constexpr std::size_t kShortest = 3;
      return glob_matches(pattern, word) ||
             (word.size() >= kShortest && word.starts_with("--") && pattern.starts_with(word));
    });
  }
  return std::all_of(pattern.begin() + 1, pattern.end(),
                     [argv](char flag) { return has_short_flag(argv, flag); });
}

bool operand_matches(std::string_view pattern, const std::string& word) {
  if (glob_matches(pattern, word)) return true;
  const auto plain = plain_path(word);
  return plain && glob_matches(pattern, *plain);
}

std::vector<std::string_view> words_of(std::string_view pattern) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = pattern.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return words;
    const std::size_t end = std::min(pattern.find_first_of(" \t", begin), pattern.size());
    words.push_back(pattern.substr(begin, end - begin));
    pattern.remove_prefix(end);
  }
}

// Bytes that hide a name from a search and not from a shell.
std::string without_quotes(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (c != '\'' && c != '"' && c != '\\') plain += c;
  }
  return plain;
}

// The longest stretch of a glob that is itself.
std::string_view literal_part(std::string_view glob) {
  std::string_view best;
  while (!glob.empty()) {
    const std::size_t end = std::min(glob.find_first_of("*?"), glob.size());
    if (end > best.size()) best = glob.substr(0, end);
    glob.remove_prefix(std::min(end + 1, glob.size()));
  }
  return best;
}

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The name stands in the text as a word: "su" is not in "result". A glob may go on where its
// literal part ends.
bool has_name(std::string_view text, std::string_view glob) {
  const std::string_view name = literal_part(glob);
  if (name.empty()) return true;
  const std::size_t place = glob.find(name);
  const bool free_before = place > 0;
  const bool free_after = place + name.size() < glob.size();
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + name.size();
    const bool begins = free_before || at == 0 || !is_name_byte(text[at - 1]);
    const bool ends = free_after || end == text.size() || !is_name_byte(text[end]);
    if (begins && ends) return true;
  }
  return false;
}

}  // namespace

FoundCommands commands_in_text(std::string_view text) {
  Finder finder;
  finder.text(text, 0);
  return std::move(finder.found);
}

FoundCommands commands_in_argv(std::span<const std::string> argv) {
  Finder finder;
  finder.argv(argv, 0);
  return std::move(finder.found);
}

std::size_t plain_wrapper_words(std::span<const std::string> argv) {
  if (argv.size() < 2 || is_option(argv[1])) return 0;
  if (argv[0] == "nice" || argv[0] == "command") return 1;
  // A word with '=' would be an assignment.
  if (argv[0] == "env") return argv[1].find('=') == std::string::npos ? 1 : 0;
  if (argv[0] != "timeout" || argv.size() < 3) return 0;
  const std::size_t digits = argv[1].find_first_not_of("0123456789.");
  const bool duration =
      digits != 0 && (digits == std::string::npos || digits + 1 == argv[1].size());
  return duration && !is_option(argv[2]) ? 2 : 0;
}

bool command_matches(std::string_view pattern, std::span<const std::string> argv) {
  const std::vector<std::string_view> words = words_of(pattern);
  if (words.empty() || argv.empty()) return false;
  if (!glob_matches(words[0], argv[0]) && !glob_matches(words[0], base_name(argv[0]))) return false;
  const Argv rest = argv.subspan(1);
  std::size_t at = 0;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "*") continue;
    if (is_option(words[i])) {
      if (!has_option(rest, words[i])) return false;
      continue;
    }
    while (at < rest.size() && !operand_matches(words[i], rest[at])) ++at;
    if (at == rest.size()) return false;
    ++at;
  }
  return true;
}

std::string pattern_fault(std::string_view pattern) {
  if (words_of(pattern).empty()) return "a pattern needs the name of a program";
  if (pattern.size() <= kGlobBytesMax) return {};
  return "a pattern has at most " + std::to_string(kGlobBytesMax) + " bytes";
}

std::string matching_pattern(std::span<const std::string> patterns, const FoundCommands& found,
                             std::string_view text) {
  const std::string plain =
      found.outcome == ShellOutcome::understood ? std::string() : without_quotes(text);
  for (const std::string& pattern : patterns) {
    const bool runs =
        std::any_of(found.commands.begin(), found.commands.end(),
                    [&pattern](const auto& argv) { return command_matches(pattern, argv); });
    if (runs) return pattern;
    if (found.outcome == ShellOutcome::understood) continue;
    const std::vector<std::string_view> words = words_of(pattern);
    if (words.empty()) continue;
    if (has_name(text, words[0]) || has_name(plain, words[0])) return pattern;
  }
  return {};
}

}  // namespace pawl
