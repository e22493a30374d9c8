// commands_in_text() and commands_in_argv().
#include <algorithm>
#include <array>

#include "pawl/gate/shell/shell_commands.h"
#include "pawl/gate/shell/shell_evaluated.h"
#include "pawl/gate/shell/shell_git.h"
#include "pawl/gate/shell/shell_told.h"
#include "pawl/gate/shell/shell_wrappers.h"

namespace pawl {
namespace {

using Words = std::span<const CommandWord>;

constexpr std::size_t kToldMax = 4096;

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
    const bool reader_before = has_reader_;
    has_reader_ = false;
    for (const ReadCommand& one : reading.commands) {
      std::vector<CommandWord> words;
      for (const ShellWord& word : one.words) words.push_back(command_word(word, text));
      argv(words, depth);
      for (const ShellWord& set : one.assignments) {
        note_setting(command_word(set, text), depth);
        if (!takes_words_as_data(values_of(words))) {
          tell({set.value(), set.value()});
        }
      }
    }
    for (ToldText& one : told_by_input(reading, text)) tell(std::move(one));
    if (std::string later = evaluated_later(reading); !later.empty()) unseen(std::move(later));
    // What stands in [[ … ]] is no command, and its words are not read.
    if (text.find("[[") != std::string_view::npos) {
      for (const std::string& one : substitutions_in(text).texts) this->text(one, depth + 1);
    }
    const bool runs = std::any_of(
        found.commands.begin() + static_cast<std::ptrdiff_t>(before), found.commands.end(),
        [](const auto& words) { return runs_what_it_reads(command_base_name(words[0])); });
    if (has_reader_ && !is_input_known(reading)) unseen("the input of a shell");
    has_reader_ = reader_before;
    if (runs) given_texts(reading, depth);
  }

  void argv(Words words, std::size_t depth) {
    if (words.empty()) return;
    if (depth > kFoundDepthMax || found.commands.size() >= kFoundCommandsMax) {
      return note(ShellOutcome::too_much,
                  "more than " + std::to_string(kFoundCommandsMax) + " commands");
    }
    add(words, depth);
    tell(words);
    note_reader(words, Sourcing::possible);
    inner_texts(words, depth);
    const std::string_view program = command_base_name(words[0].value);
    if (is_wrapper(program)) wrapped(words, depth);
  }

 private:
  // Which word begins the inner command depends on the wrapper's options: take every one, the
  // wrappers among them not again.
  void wrapped(Words words, std::size_t depth) {
    const std::string_view program = command_base_name(words[0].value);
    if (program == "command" && words.size() > 1 && words[1].value.starts_with("-") &&
        words[1].value.find_first_of("vV") != std::string::npos) {
      return;  // It only says where a program is.
    }
    const bool appends = is_appender(program);
    const std::string replaced = program == "parallel" ? "{" : appends ? replaced_by(words) : "";
    const std::vector<CommandWord> given = with_unknown(words, replaced);
    for (std::size_t i = 1; i < given.size(); ++i) {
      if (found.commands.size() >= kFoundCommandsMax) {
        return note(ShellOutcome::too_much, "too many words after a wrapper");
      }
      const Words rest = Words(given).subspan(i);
      const bool is_argument = begins_before(given, i);
      if ((is_argument && !rest[0].is_literal()) || is_setting(rest[0])) continue;
      add(rest, depth);
      if (!is_argument) tell_inner(rest, program);
      const bool builtin = program == "command" || program == "builtin";
      if (!is_argument) note_reader(rest, builtin ? Sourcing::possible : Sourcing::impossible);
      if (appends && rest[0].is_literal()) append_unknown(rest, words[0].value);
      inner_texts(rest, depth);
    }
    if (program == "parallel" && given.size() == 1) unseen(words[0].value);
  }

  void add(Words words, std::size_t depth) {
    push(words);
    if (const auto git = as_git_command(words); !git.empty()) push(git);
    for (const CommandWord& word : words) note_setting(word, depth);
  }

  // What the program may run, and nobody looks into.
  void tell(Words words) {
    for (ToldText& one : told_by_words(values_of(words))) tell(std::move(one));
  }

  // Behind a wrapper: a text of its own ("shell x" of gdb -ex), or a command. An option's value, a
  // number and a setting are no program.
  void tell_inner(Words words, std::string_view wrapper) {
    const std::string& first = words[0].value;
    if (is_code(first)) return tell({std::string(wrapper), first});
    if (first.find('=') == std::string::npos &&
        (first.empty() || first[0] < '0' || first[0] > '9')) {
      tell(words);
    }
  }

  void tell(ToldText told) {
    if (found.told.size() < kToldMax) return found.told.push_back(std::move(told));
    note(ShellOutcome::too_much, "too many texts");
  }

  void push(Words words) {
    found.commands.push_back(values_of(words));
    const bool certain = std::all_of(words.begin(), words.end(),
                                     [](const CommandWord& word) { return word.is_literal(); });
    if (!certain) found.uncertain.emplace_back(words.begin(), words.end());
  }

  // Configuration in the environment: git takes aliases from it, and others what they run.
  void note_setting(const CommandWord& word, std::size_t depth) {
    if (word.value.starts_with("GIT_CONFIG_")) unseen(word.value);
    if (is_name_and_value(word.value)) evaluated(word, depth);
    const auto run = setting_text(word.value);
    if (!run) return;
    if (!word.is_literal()) unseen(word.source);
    text(*run, depth + 1);
  }

  // Substitutions in a quoted text that the shell may expand once more.
  void evaluated(const CommandWord& word, std::size_t depth) {
    const Substitutions inside = substitutions_in(word.value);
    if (inside.end == Substitutions::End::open) unseen(word.value);
    for (const std::string& one : inside.texts) text(one, depth + 1);
  }

  enum class Sourcing : std::uint8_t { impossible, possible };  // of `.` and `source`, the builtins

  void note_reader(Words words, Sourcing sourcing) {
    const std::string_view program = command_base_name(words[0].value);
    const bool shell = is_shell_program(program) ||
                       (sourcing == Sourcing::possible && runs_what_it_reads(program));
    has_reader_ = has_reader_ || (shell && reads_its_input(words));
  }

  // More words come when the command runs.
  void append_unknown(Words words, const std::string& from) {
    found.uncertain.emplace_back(words.begin(), words.end());
    found.uncertain.back().push_back(CommandWord::unknown("the words that " + from + " adds"));
  }

  void unseen(std::string what) {
    if (found.unseen.empty()) found.unseen = std::move(what);
  }

  void text(const CommandWord& word, std::size_t depth) {
    if (!word.is_literal()) unseen(word.source);
    text(word.value, depth);
  }

  // What a shell may be given to read by the text it stands in.
  void given_texts(const ShellReading& reading, std::size_t depth) {
    for (const ShellDocument& document : reading.documents) text(document.body, depth + 1);
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
    const bool echo = command_base_name(program) == "echo";
    if (!echo && command_base_name(program) != "printf") return;
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
  void inner_texts(Words words, std::size_t depth) {
    if (const auto git = as_git_command(words); !git.empty()) {
      inner_of_git(Words(git).subspan(1), depth);
    }
    const std::string_view program = command_base_name(words[0].value);
    const Words rest = words.subspan(1);
    if (program == "find") return find_actions(words, depth);
    if (program == "git") return inner_of_git(rest, depth);
    if (is_shell_program(program) || takes_text_behind_c(program)) {
      return shell_text(words, depth);
    }
    if (program == "eval") return joined_text(rest, depth);
    if (program == "alias") return aliases(rest, depth);
    if (program == "hash") return hashed(rest);
    if (program == "history") return remembered(rest, depth);
    if (program == "compgen" || program == "complete") return option_text(words, "-C", depth);
    if (evaluates_its_words(program)) {
      for (const CommandWord& word : rest) evaluated(word, depth);
    }
    if (takes_text_anywhere(program)) {
      for (const CommandWord& word : rest) text(word, depth + 1);
      return;
    }
    if (program == "mapfile" || program == "readarray" || program == "env") {
      option_text(words, program == "env" ? "-S" : "-C", depth);
      if (program == "env") option_text(words, "--split-string", depth);
    }
  }

  void inner_of_git(Words arguments, std::size_t depth) {
    for (const CommandWord& run : git_texts(arguments)) text(run, depth + 1);
    argv(git_started(arguments), depth + 1);
  }

  void joined_text(Words words, std::size_t depth) {
    std::string joined;
    for (const CommandWord& word : words) {
      if (!word.is_literal()) unseen(word.source);
      joined += word.value + " ";
    }
    text(joined, depth + 1);
  }

  // What stands behind an alias is added to it.
  void aliases(Words words, std::size_t depth) {
    for (const CommandWord& word : words) {
      const std::size_t equals = word.value.find('=');
      if (!word.is_literal()) unseen(word.source);
      if (equals == std::string::npos) continue;
      const std::size_t before = found.commands.size();
      text(std::string_view(word.value).substr(equals + 1), depth + 1);
      if (found.commands.size() == before) continue;
      std::vector<CommandWord> last;
      for (const std::string& value : found.commands.back()) {
        last.push_back(CommandWord::known(value));
      }
      append_unknown(last, "the use of an alias");
    }
  }

  // history -s WORDS: `fc -s` runs them.
  void remembered(Words words, std::size_t depth) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i].value == "-s") return joined_text(words.subspan(i + 1), depth);
    }
  }

  // hash -p FILE NAME: NAME runs FILE.
  void hashed(Words words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& value = words[i].value;
      if (!value.starts_with("-p")) continue;
      if (value.size() > 2)
        append_unknown(std::vector{CommandWord::known(value.substr(2))}, "hash");
      append_unknown(words.subspan(i + 1), "hash");
    }
  }

  void find_actions(Words words, std::size_t depth) {
    constexpr std::array<std::string_view, 4> kActions = {"-exec", "-execdir", "-ok", "-okdir"};
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
      if (std::find(kActions.begin(), kActions.end(), words[i].value) == kActions.end()) continue;
      argv(with_unknown(words.subspan(i + 1), "{}"), depth + 1);
    }
  }

  void shell_text(Words words, std::size_t depth) {
    constexpr std::string_view kAttached = "--command=";
    for (std::size_t i = 1; i < words.size(); ++i) {
      const CommandWord& word = words[i];
      if (word.value.starts_with(kAttached)) {
        if (!word.is_literal()) unseen(word.source);
        text(word.value.substr(kAttached.size()), depth + 1);
      }
      if (!has_letter_c(word.value)) continue;
      return texts_behind_c(words.subspan(i), depth);
    }
  }

  // Options, and values of -o, may stand between -c and the text; parameters stand behind it.
  void texts_behind_c(Words words, std::size_t depth) {
    bool is_behind = false;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const CommandWord& word = words[i];
      if (!word.is_literal() && !is_behind) unseen(word.source);
      const std::string& before = words[i - 1].value;
      const bool value = is_dashed(before) && before.find_first_of("oO") != std::string::npos;
      if (word.is_literal() && !is_dashed(word.value) && !value) is_behind = true;
      text(word.value, depth + 1);
    }
  }

  void option_text(Words words, std::string_view option, std::size_t depth) {
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::string& word = words[i].value;
      if (word == option && i + 1 < words.size()) {
        text(words[i + 1], depth + 1);
      } else if (word.starts_with(option) && word.size() > option.size()) {
        if (!words[i].is_literal()) unseen(words[i].source);
        const std::size_t skip = option.size() + (word[option.size()] == '=' ? 1 : 0);
        text(std::string_view(word).substr(skip), depth + 1);
      }
    }
  }

  bool has_reader_ = false;  // a shell that reads its commands, in the text that is looked at
};

}  // namespace

FoundCommands commands_in_text(std::string_view text) {
  Finder finder;
  finder.text(text, 0);
  return std::move(finder.found);
}

FoundCommands commands_in_argv(std::span<const std::string> argv) {
  Finder finder;
  std::vector<CommandWord> words;
  for (const std::string& word : argv) words.push_back(CommandWord::known(word));
  finder.argv(words, 0);
  return std::move(finder.found);
}

}  // namespace pawl
