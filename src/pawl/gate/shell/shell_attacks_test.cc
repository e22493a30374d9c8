// Commands that write the file M, found by trying to get round the rules; and the rules beside real
// bash: what they allow is run for real, and must have changed nothing.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "pawl/base/rng.h"
#include "pawl/gate/shell/shell_rules.h"
#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kAttackSeed = 20'261'115;

// Each of them makes M where there is a bash, and the programs it names.
constexpr auto kAttacks = std::to_array<std::string_view>({
    "echo a >&M",
    "echo a 1<>M",
    "ls 2>M",
    "echo a {fd}>M",
    "cat<<<a>M",
    "echo a;>M",
    ">M",
    ">M echo a",
    "echo ok|&tee M",
    "if :;then touch M;fi",
    "for i in 1;do touch M;done",
    "while touch M;do break;done",
    "until touch M;do :;done",
    "case a in a)touch M;;esac",
    "select x in a;do touch M;break;done<<<1",
    "[[ a ]]&&touch M",
    "((1))&&touch M",
    "((a[$(touch M)0]))",
    "let 'a[$(touch M)0]'",
    "declare 'a[$(touch M)0]=1'",
    "a=(1);unset 'a[$(touch M)0]'",
    "echo ${x[$(touch M)0]}",
    "x=abc;echo ${x:$(touch M)0}",
    "echo \"$(</dev/null touch M)\"",
    "echo ${a:-`touch M`}",
    "echo $((`touch M`0))",
    "builtin eval touch M",
    "command eval touch M",
    "command -p touch M",
    "exec -a ls touch M",
    "source /dev/stdin<<<'touch M'",
    ". <(echo touch M)",
    "bash<<<'touch M'",
    "hash -p /usr/bin/touch ls;ls M",
    "shopt -s expand_aliases\nalias ls=touch\nls M",
    "function ls { touch M;};ls",
    "trap 'touch M' 0",
    "set -- M;touch \"$1\"",
    "printf M|xargs touch",
    "time -p touch M",
    "! ! touch M",
    "mapfile -t -C 'touch M;:' -c1<<<a",
    "compgen -C 'touch M' x",
    "PS4='$(touch M)';set -x;:",
    "env -i /usr/bin/touch M",
    "env --split-string='touch M'",
    "env -C . touch M",
    "nice -n 1 touch M",
    "timeout -k 1 2 touch M",
    "nohup touch M",
    "stdbuf -o0 touch M",
    "flock M true",
    "find . -maxdepth 0 -execdir touch M \\;",
    "find . -fprintf M x",
    "find . -fls M",
    "find . -maxdepth 0 -exec touch M {} +",
    "sort -oM a",
    "sort -uoM a",
    "sort --outpu=M a",
    "sed 'w M' a",
    "sed -n '/a/wM' a",
    "sed -s '$wM' a",
    "sed -e 1wM a",
    "sed -n s/a/b/wM a",
    "sed -E 's/a/touch M/e' a",
    "sed '1e touch M' a",
    "uniq a M",
    "sort a|uniq - M",
    "split -n1 a && mv xaa M",
    "echo a \\\n>M",
    "echo a # x\ntouch M",
    "echo {a,b}$(touch M)",
    "echo \"a\"'b'$(touch M)",
    ": \"${x:=`touch M`}\"",
    "cat a -\"$(touch M)\"",
    "git diff --no-index --output=M a b",
    "git -c alias.x='!touch M' x",
    "git -c diff.external='touch M;:' diff --ext-diff --no-index a b",
    "GIT_EXTERNAL_DIFF='touch M;:' git diff --no-index --ext-diff a b",
    "timeout 5 env nice touch M",
    "env LC_ALL=C touch M",
    "awk 'BEGIN{print>\"M\"}'",
    "tee M<a",
    "cp a M",
    "ln a M",
    "read -r x<a;printf x>M",
    "exec 3>M",
    "wait $(touch M)",
});

struct Ground {
  Ground() {
    std::ofstream(directory / "a") << "a\nb\n";
    std::ofstream(directory / "b") << "b\nc\n";
  }
  // What every file there holds.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::directory_iterator(directory.path())) {
      std::ifstream in(entry.path(), std::ios::binary);
      all[entry.path().filename().string()] = {std::istreambuf_iterator<char>(in), {}};
    }
    return all;
  }
  void run(std::string_view text) const {
    TempDirectory beside;
    std::ofstream(beside / "script", std::ios::binary) << text;
    const std::string command = "cd '" + directory.path() +
                                "' && LC_ALL=C timeout 10 bash -c \"$(cat '" + (beside / "script") +
                                "')\" </dev/null >/dev/null 2>&1";
    [[maybe_unused]] const int status = std::system(command.c_str());  // NOLINT: a fixed command
  }

  TempDirectory directory;
};

bool bash_is_there() {
  if (std::system("bash -c : 2>/dev/null") == 0) return true;  // NOLINT: a fixed command
  MESSAGE("skipped: there is no bash");
  return false;
}

ShellPolicy everything(ShellGrammar grammar) {
  ShellPolicy policy;
  policy.allow = {"*"};
  policy.grammar = grammar;
  return policy;
}

TEST_CASE("commands that write are never allowed, however they are dressed") {
  for (const std::string_view text : kAttacks) {
    INFO(std::string(text));
    for (const ShellGrammar grammar : {ShellGrammar::single, ShellGrammar::lists}) {
      CHECK(judge_shell(text, everything(grammar)).verdict != Verdict::allow);
    }
  }
}

TEST_CASE("those commands do write, for bash") {
  if (!bash_is_there()) return;
  std::size_t wrote = 0;
  for (const std::string_view text : kAttacks) {
    const Ground ground;
    ground.run(text);
    const bool made = fs::exists(ground.directory / "M");
    if (made) ++wrote;
    if (!made) MESSAGE("not here: " << std::string(text));
  }
  CHECK(wrote >= 70);  // A machine may lack git or a program; most it has.
}

TEST_CASE("what is allowed is run by bash and changes nothing") {
  if (!bash_is_there()) return;
  constexpr auto kPrograms = std::to_array<std::string_view>(
      {"cat",      "cmp",        "comm",     "cut",           "diff",      "du",
       "echo",     "find",       "grep",     "head",          "ls",        "nl",
       "readlink", "realpath",   "rev",      "sed",           "sha256sum", "sort",
       "stat",     "tac",        "tail",     "uniq",          "wc",        "git diff",
       "git log",  "git status", "env sort", "timeout 5 sed", "nice uniq"});
  constexpr auto kPieces = std::to_array<std::string_view>(
      {"a",        "b",        "M",          "-",          "--",      "-o",       "-oM",
       "-n",       "-i",       "-e",         "-w",         "-s",      "-u",       "-c",
       "-T.",      "-f",       "-k1",        "-t,",        "1p",      "p",        "1wM",
       "'s/a/b/'", "-exec",    "touch",      "-print",     "-fprint", "-delete",  "-name",
       "'*'",      "-O",       "-x",         "--output=M", "-q",      "--outp=M", "--stat",
       "--check",  "-z",       "-d",         "-r",         "-m",      "-l",       "-1",
       "-5",       "-U1",      "--no-index", "-p",         "-v",      "'w M'",    ">M",
       "|tee M",   ";touch M", "$(touch M)", "\\>M",       "'>M'",    "\">M\"",   "&&touch M"});
  Rng rng(kAttackSeed);
  std::size_t allowed = 0;
  std::string script;
  for (int i = 0; i < 20'000; ++i) {
    std::string text(kPrograms[rng.below(kPrograms.size())]);
    const std::uint64_t words = rng.below(6);
    for (std::uint64_t word = 0; word < words; ++word) {
      text += ' ';
      text += kPieces[rng.below(kPieces.size())];
    }
    const bool list = i % 2 == 0;
    const auto grammar = list ? ShellGrammar::lists : ShellGrammar::single;
    if (judge_shell(text, everything(grammar)).verdict != Verdict::allow) continue;
    if (++allowed <= 400) script += text + "\n";
  }
  CHECK(allowed > 400);
  const Ground ground;
  const auto before = ground.files();
  ground.run(script);
  CHECK(ground.files() == before);
}

}  // namespace
}  // namespace pawl
