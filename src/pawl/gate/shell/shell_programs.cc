#include "pawl/gate/shell/shell_programs.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "pawl/base/document.h"

namespace pawl {
namespace {

constexpr std::size_t kAnyOperands = 1024;

struct Reader {
  std::string_view name;
  std::string_view flags;             // short options
  std::string_view valued;            // short options with a value, in the same word or the next
  std::string_view long_flags = "";   // with a space between them
  std::string_view long_valued = "";  // --name=value
  std::size_t operands_max = kAnyOperands;
  bool numbers = false;  // -5
};

constexpr auto kReaders = std::to_array<Reader>({
    {"basename", "az", "s", "--multiple --zero", "--suffix"},
    {"cat", "AbeEnstTuv", "", "--number --show-all --show-ends --squeeze-blank"},
    {"cmp", "bls", "in", "--print-bytes --silent --quiet --verbose", "--bytes", 4},
    {"comm", "123z", "", "--check-order --nocheck-order --total", "", 2},
    {"cut", "nsz", "bcdf", "--complement --only-delimited",
     "--bytes --characters --delimiter --fields --output-delimiter"},
    {"df", "ahHiklmPT", "", "--human-readable --si --total"},
    {"diff", "abBdeEinNpqrsuwyTt", "CU",
     "--brief --recursive --unified --ignore-all-space --side-by-side --text "
     "--new-file --ignore-case --ignore-blank-lines --report-identical-files",
     "--context --unified --width --exclude --label", 2},
    {"dirname", "z", "", "--zero"},
    {"du", "0abcDhHklLmsSx", "d", "--human-readable --summarize --total --all",
     "--max-depth --exclude"},
    {"false", "", ""},
    {"grep", "EFGPivwxclLnHhoqsraIzZbTRUy", "ABCemd",
     "--extended-regexp --fixed-strings --ignore-case --invert-match "
     "--word-regexp --line-regexp --count --files-with-matches "
     "--files-without-match --line-number --with-filename --no-filename "
     "--only-matching --quiet --silent --no-messages --recursive --text --null "
     "--color --perl-regexp",
     "--after-context --before-context --context --max-count --regexp --include "
     "--exclude --exclude-dir --color --colour",
     kAnyOperands, true},
    {"head", "qvz", "nc", "--quiet --silent --verbose", "--lines --bytes", kAnyOperands, true},
    {"id", "agGnru", "", "--group --groups --name --real --user", "", 1},
    {"ls", "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1", "ITw",
     "--all --almost-all --color --directory --full-time "
     "--group-directories-first --human-readable --inode --no-group "
     "--numeric-uid-gid --recursive --reverse --size --classify",
     "--color --ignore --hide --sort --time --time-style --format --width"},
    {"nl", "p", "bdfhilnsvw"},
    {"pwd", "LP", "", "", "", 0},
    {"readlink", "efmnqsvz", "", "--canonicalize"},
    {"realpath", "eLmPqsz", "", "--no-symlinks", "--relative-to --relative-base"},
    {"rev", "", ""},
    {"sha256sum", "btcwz", "", "--binary --check --quiet --status --text"},
    {"sort", "bcCdfghiMmnRrsuVz", "kt",
     "--check --dictionary-order --ignore-case --ignore-leading-blanks "
     "--general-numeric-sort --human-numeric-sort --month-sort --numeric-sort "
     "--reverse --stable --unique --version-sort --zero-terminated",
     "--key --field-separator"},
    {"stat", "fLt", "c", "--dereference --file-system --terse", "--format --printf"},
    {"tac", "br", "s", "--before --regex", "--separator"},
    {"tail", "qvz", "nc", "--quiet --silent --verbose", "--lines --bytes", kAnyOperands, true},
    {"tr", "cCdst", "", "--complement --delete --squeeze-repeats --truncate-set1", "", 2},
    {"true", "", ""},
    {"uname", "amnoprsvi", "", "--all", "", 0},
    // Its second operand is a file that it writes.
    {"uniq", "cdDiuz", "fsw", "--count --repeated --unique --ignore-case",
     "--skip-fields --skip-chars --check-chars", 1},
    {"wc", "clLmw", "", "--bytes --chars --lines --max-line-length --words"},
    {"which", "a", ""},
    {"whoami", "", "", "", "", 0},
    {"git status", "sbuvz", "",
     "--short --branch --porcelain --long --verbose --ignored --show-stash "
     "--untracked-files --ahead-behind --no-renames --column",
     ""},
    {"git diff", "pubwRzaM", "UG",
     "--stat --numstat --shortstat --name-only --name-status --cached --staged "
     "--summary --check --color --no-color --word-diff --no-ext-diff "
     "--no-textconv --ignore-all-space --ignore-space-change "
     "--ignore-blank-lines --minimal --patience --histogram --no-renames "
     "--find-renames --text --exit-code --quiet --merge-base --patch --no-patch "
     "--full-index --raw",
     "--unified --diff-filter --diff-algorithm"},
    {"git log", "pugziE", "nLSGU",
     "--oneline --graph --stat --shortstat --numstat --name-only --name-status "
     "--all --decorate --no-decorate --patch --no-patch --follow --reverse "
     "--merges --no-merges --first-parent --abbrev-commit --color --no-color "
     "--topo-order --date-order --branches --tags --remotes --summary "
     "--no-ext-diff --no-textconv --full-history --left-right --cherry-pick",
     "--max-count --skip --since --after --until --before --author --committer "
     "--grep --pretty --format --date --diff-filter --decorate",
     kAnyOperands, true},
    {"git show", "pusz", "U",
     "--stat --shortstat --numstat --name-only --name-status --oneline "
     "--abbrev-commit --patch --no-patch --color --no-color --no-ext-diff "
     "--no-textconv --summary --raw",
     "--pretty --format --date --diff-filter"},
});

using Argv = std::span<const std::string>;

std::optional<std::string> refused(std::string_view word) {
  return quoted(word) + " is not among the options that only read";
}

bool contains(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

bool is_number_flag(std::string_view word) {
  return word.size() > 1 && word.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

// Not one that makes git start gpg: "%G?", also with a sign that is about the line before it.
bool is_plain_format(std::string_view value) {
  for (std::size_t at = 0; (at = value.find('%', at)) != std::string_view::npos; ++at) {
    std::string_view letter = value.substr(at + 1);
    if (letter.starts_with('+') || letter.starts_with('-') || letter.starts_with(' ')) {
      letter.remove_prefix(1);
    }
    if (letter.starts_with('G')) return false;
  }
  return true;
}

// The options and operands of one command, word by word.
class OptionReader {
 public:
  OptionReader(const Reader& reader, Argv words) : reader_(reader), words_(words) {}

  std::optional<std::string> fault() {
    for (; at_ < words_.size(); ++at_) {
      if (auto why = word_fault(words_[at_])) return why;
    }
    if (operands_ > reader_.operands_max) return "it has too many operands to be a reader";
    return std::nullopt;
  }

 private:
  std::optional<std::string> word_fault(std::string_view word) {
    if (options_ended_ || word == "-" || !word.starts_with('-')) {
      ++operands_;
      return std::nullopt;
    }
    if (word == "--") {
      options_ended_ = true;
      return std::nullopt;
    }
    if (word.starts_with("--")) return long_fault(word);
    if (reader_.numbers && is_number_flag(word)) return std::nullopt;
    return short_fault(word);
  }

  // A value in the next word is refused: some programs would take that word for an option.
  std::optional<std::string> long_fault(std::string_view word) {
    const std::size_t equals = word.find('=');
    const std::string_view option = word.substr(0, equals);
    const bool fine = equals == std::string_view::npos
                          ? contains(reader_.long_flags, option)
                          : contains(reader_.long_valued, option) && is_plain_format(word);
    return fine ? std::nullopt : refused(word);
  }

  std::optional<std::string> short_fault(std::string_view word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      if (reader_.valued.find(word[i]) != std::string_view::npos) {
        return i + 1 < word.size() ? std::nullopt : value_fault(word);
      }
      if (reader_.flags.find(word[i]) == std::string_view::npos) return refused(word);
    }
    return std::nullopt;
  }

  // The next word is the value, or for programs that want it attached an operand: it must be
  // harmless as either.
  std::optional<std::string> value_fault(std::string_view option) {
    if (++at_ >= words_.size()) return refused(option);
    const std::string_view value = words_[at_];
    const bool harmless = !value.starts_with('-') || is_number_flag(value);
    return harmless ? std::nullopt : refused(value);
  }

  const Reader& reader_;
  Argv words_;
  std::size_t at_ = 0;
  std::size_t operands_ = 0;
  bool options_ended_ = false;
};

// find: tests and prints, nothing that acts.
std::optional<std::string> find_fault(Argv words) {
  constexpr std::array<std::string_view, 20> kAlone = {
      "-print", "-print0", "-ls",       "-prune", "-not",   "!",      "-o",
      "-or",    "-a",      "-and",      "(",      ")",      "-empty", "-depth",
      "-true",  "-false",  "-readable", "-xdev",  "-mount", "-L"};
  constexpr std::array<std::string_view, 25> kValued = {
      "-name",     "-iname",    "-path",      "-ipath",    "-regex", "-iregex", "-type",
      "-maxdepth", "-mindepth", "-size",      "-mtime",    "-atime", "-ctime",  "-mmin",
      "-amin",     "-cmin",     "-newer",     "-perm",     "-user",  "-group",  "-links",
      "-inum",     "-printf",   "-wholename", "-regextype"};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (std::find(kAlone.begin(), kAlone.end(), word) != kAlone.end()) continue;
    if (std::find(kValued.begin(), kValued.end(), word) != kValued.end()) {
      if (++i >= words.size()) return refused(word);
      continue;
    }
    // A word that looks like neither is a place to start from.
    if (word.empty() || word.front() == '-' || word.find_first_of("(),!") == 0)
      return refused(word);
  }
  return std::nullopt;
}

// sed: printing and plain replacements; w, e, r and files to write are elsewhere in its language.
std::optional<std::string> sed_fault(Argv words) {
  static const RE2 kScript(
      R"((?:[0-9]+|\$)?(?:,(?:[0-9]+|\$))?[pdq=]|(?:[0-9]+|\$)?(?:,(?:[0-9]+|\$))?s/[A-Za-z0-9 _.:^$-]*/[A-Za-z0-9 _.:-]*/[gpIi0-9]*)");
  bool have_script = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool flag = word == "-n" || word == "-E" || word == "-r" || word == "-s" ||
                      word == "-u" || word == "--quiet" || word == "--silent";
    if (flag) continue;
    if (word.starts_with('-') && word != "-") return refused(word);
    if (!have_script && !RE2::FullMatch(word, kScript)) {
      return quoted(word) + " is not a script that only prints or replaces";
    }
    have_script = true;
  }
  if (!have_script) return "it has no script";
  return std::nullopt;
}

const Reader* find_reader(std::string_view name) {
  const auto* const found = std::find_if(kReaders.begin(), kReaders.end(),
                                         [name](const Reader& one) { return one.name == name; });
  return found == kReaders.end() ? nullptr : &*found;
}

constexpr std::array<std::string_view, 3> kSpecial = {"echo", "find", "sed"};

bool is_special(std::string_view name) {
  return std::find(kSpecial.begin(), kSpecial.end(), name) != kSpecial.end();
}

}  // namespace

std::string reader_name(std::span<const std::string> argv) {
  if (argv.empty()) return {};
  if (is_special(argv[0])) return argv[0];
  const bool git = argv[0] == "git" && argv.size() > 1;
  std::string name = git ? argv[0] + " " + argv[1] : argv[0];
  return find_reader(name) != nullptr ? name : std::string();
}

std::optional<std::string> reader_fault(std::span<const std::string> argv) {
  const std::string name = reader_name(argv);
  if (name == "echo") return std::nullopt;
  if (name == "find") return find_fault(argv.subspan(1));
  if (name == "sed") return sed_fault(argv.subspan(1));
  const Reader* const reader = find_reader(name);
  if (reader == nullptr) return "it is not in the table of readers";
  return OptionReader(*reader, argv.subspan(name.starts_with("git ") ? 2 : 1)).fault();
}

std::vector<std::string> reader_names() {
  std::vector<std::string> names(kSpecial.begin(), kSpecial.end());
  for (const Reader& reader : kReaders) names.emplace_back(reader.name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace pawl
