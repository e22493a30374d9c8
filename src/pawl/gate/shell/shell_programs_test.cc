#include "pawl/gate/shell/shell_programs.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "pawl/gate/shell/shell_reader.h"

namespace pawl {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  const ShellReading reading = read_shell(text);
  REQUIRE(reading.commands.size() == 1);
  std::vector<std::string> words;
  for (const ShellWord& word : reading.commands[0].words) words.push_back(word.value());
  return words;
}

bool only_reads(const std::string& text) {
  return !reader_fault(words_of(text)).has_value();
}

TEST_CASE("readers with their options") {
  for (const char* text : {"ls",
                           "ls -la --color=never src",
                           "ls -I '*.o' -- -x",
                           "cat -n a b -",
                           "head -n 5 a",
                           "head -5 a",
                           "head --lines=5 a",
                           "tail -c 10 a",
                           "wc -l a",
                           "grep -rn x src",
                           "grep -A 3 -e x a",
                           "grep -5 x a",
                           "grep --include='*.cc' -r x .",
                           "grep -- -x a",
                           "sort -n -k 2 -t , a",
                           "sort -k2,2n a",
                           "uniq -c a",
                           "cut -d: -f1 a",
                           "tr a b",
                           "echo -n x --anything",
                           "pwd -P",
                           "find . -name '*.cc' -type f -print",
                           "find src tests -maxdepth 2 '(' -name a -o -name b ')' '!' -empty",
                           "find",
                           "sed -n 1,5p a",
                           "sed s/a/b/g a",
                           "sed -E 's/a b/c/' a",
                           "sed -n '$p' a",
                           "git status",
                           "git status --short",
                           "git diff",
                           "git diff --stat HEAD~1 -- src",
                           "git diff -U5",
                           "git log --oneline -5",
                           "git log -n 5 --format=%h",
                           "git show HEAD:a",
                           "diff -u a b",
                           "stat -c %s a",
                           "du -sh .",
                           "true",
                           "basename a/b .b",
                           "which ls"}) {
    INFO(std::string(text));
    CHECK(only_reads(text));
  }
}

TEST_CASE("options that do more than read, or that nobody vouched for") {
  for (const char* text : {"sort -o M a",
                           "sort --outp M a",
                           "sort --output=M a",
                           "sort -uo M a",
                           "sort --compress-prog=./x a",
                           "sort -T d a",
                           "uniq a M",
                           "find . -exec x ';'",
                           "find . -fprint M",
                           "find . -delete",
                           "find . -ok x ';'",
                           "find . -fls M",
                           "find . -execdir x ';'",
                           "find -D help .",
                           "find . -name",
                           "sed -n 1wM a",
                           "sed 1e a",
                           "sed 's/^/x/e' a",
                           "sed 's/a/b/w M' a",
                           "sed -i s/a/b/ a",
                           "sed -f x a",
                           "sed",
                           "sed -n",
                           "sed -e p -e 'w M' a",
                           "sed --in-place p a",
                           "sed 'r M' a",
                           "git -c x=y status",
                           "git diff --output=M",
                           "git diff --no-index --output=M a b",
                           "git diff --ext-diff",
                           "git log --pretty --output=M",
                           "git diff -U --output=M",
                           "git log -n --output=M",
                           "git log --format=%G?",
                           "git log --format=%+G?",
                           "git log --format=%-GS",
                           "git show --pretty='%h % G?'",
                           "git log --show-signature",
                           "git push",
                           "git",
                           "git diff -O x",
                           "git show --textconv HEAD",
                           "git log --exec-path=x",
                           "ls --colo=never",
                           "grep -f x a",
                           "tail -f a",
                           "tail --follow a",
                           "head -n",
                           "cat --frob",
                           "wc --files0-from=x",
                           "pwd x",
                           "diff a b c",
                           "grep --after-context 3 x",
                           "date -s x",
                           "tee M",
                           "printf x"}) {
    INFO(std::string(text));
    CHECK_FALSE(only_reads(text));
  }
}

TEST_CASE("only bare names are readers") {
  using Words = std::vector<std::string>;
  CHECK(reader_name(Words{"ls", "-l"}) == "ls");
  CHECK(reader_name(Words{"git", "status"}) == "git status");
  for (const char* program : {"./ls", "/bin/ls", "LS", "ls ", " ls", "", "git", "lsof"}) {
    CHECK(reader_name(Words{program, "x"}) == "");
  }
  CHECK(reader_name({}) == "");
}

TEST_CASE("the table has no entry twice") {
  const auto names = reader_names();
  CHECK(names.size() > 30);
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

}  // namespace
}  // namespace pawl
