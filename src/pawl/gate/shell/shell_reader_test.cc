#include "pawl/gate/shell/shell_reader.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

// Commands in brackets, deeper ones with '+'; words that are not literal have a '?' before what is
// known of them.
std::string shown(const ShellReading& reading) {
  std::string text;
  for (const ReadCommand& command : reading.commands) {
    text += std::string(command.nesting, '+') + "[";
    std::string words;
    const auto add = [&words](const std::string& word) {
      words += (words.empty() ? "" : "|") + word;
    };
    for (const ShellWord& word : command.assignments) add("=" + word.value());
    for (const ShellWord& word : command.words) add((word.is_literal() ? "" : "?") + word.value());
    for (const ShellRedirection& one : command.redirections) {
      add(one.operation + (one.target.is_literal() ? "" : "?") + one.target.value());
    }
    text += words + "]";
  }
  if (reading.outcome == ShellOutcome::understood) return text;
  return text + "!" + reading.why + " at " + std::to_string(reading.at);
}

struct Case {
  std::string text;
  std::string reading;
};

void check(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    INFO(one.text);
    CHECK(shown(read_shell(one.text)) == one.reading);
  }
}

TEST_CASE("words: quotes and escapes") {
  check({
      {"echo a b", "[echo|a|b]"},
      {"  echo\ta  ", "[echo|a]"},
      {"echo 'a b'\"c d\"e\\ f", "[echo|a bc de f]"},
      {"ech\"\"o ''", "[echo|]"},
      {"echo \"a\\b\\$\\\"\\\\\\`\"", "[echo|a\\b$\"\\`]"},
      {"echo 'a\\n'", "[echo|a\\n]"},
      {"echo a\\\nb", "[echo|ab]"},
      {"echo \"a\\\nb\"", "[echo|ab]"},
      {"echo $'\\x63url\\n\\101\\e'", "[echo|curl\nA\x1b]"},
      {"echo $'a\\'b' $'\\q'", "[echo|a'b|\\q]"},
      {"echo a#b #c", "[echo|a#b]"},
      {"echo $ a$ \"$\" $%", "[echo|$|a$|$|$%]"},
      {"echo HEAD~1 a=b {} ]", "[echo|HEAD~1|a=b|{}|]]"},
      {"[ a ]", "[[|a|]]"},
      {"echo \\~ \\* '?'", "[echo|~|*|?]"},
      {"", ""},
      {"\n\n", ""},
  });
}

TEST_CASE("words that only bash knows") {
  check({
      {"echo $x ${y:-z} \"a$b\"", "[echo|?|?|?a]"},
      {"c${x}url", "[?curl]"},
      {"head * a?b [ab]", "[head|?|?ab|?ab]]"},
      {"ls ~ ~root/x a=~ b:~c", "[ls|?|?root/x|?a=|?b:c]"},
      {"echo {a,b} a{1..3}", "[echo|?a,b}|?a1..3}]"},
      {"echo $((1+2)) $[3]", "[echo|?|?]"},
      {"echo $\"x\"", "[echo|?]"},
  });
}

TEST_CASE("every command is found, wherever it stands") {
  check({
      {"a; b && c || d & e | f |& g\nh", "[a][b][c][d][e][f][g][h]"},
      {"echo $(a; b) `c` \"$(d)\" <(e) >(f)", "+[a]+[b]+[c]+[d]+[e]+[f][echo|?|?|?|?|?]"},
      {"echo ${x:=$(a)} \"${x:=`b`}\" $(( $(c) )) $[a[$(d)]]",
       "++[a]++[b]++[c]++[d][echo|?|?|?|?]"},
      {"(a; b)", "+[a]+[b]"},
      {"{ a; b; } >x", "+[a]+[b]+[>x]"},
      {"if a; then b; elif c; then d; else e; fi", "+[a]+[b]+[c]+[d]+[e]"},
      {"while a; do b; done", "+[a]+[b]"},
      {"until a; do b; done", "+[a]+[b]"},
      {"for x in 1 $(a); do b; done", "++[a]+[b]"},
      {"for x; do b; done", "+[b]"},
      {"for x\ndo b; done", "+[b]"},
      {"for ((i=0;i<$(a);i++)); do b; done", "+++[a]+[b]"},
      {"select x in 1; do b; done", "+[b]"},
      {"case $(a) in b|c) d;; (e) f;& *) g; esac", "++[a]+[d]+[f]+[g]"},
      {"f() { a; }; f", "+[a][f]"},
      {"f () ( a )", "+[a]"},
      {"function f { a; }", "++[a]"},
      {"[[ -v a[$(b)] && x =~ (c d)|$(e) ]]", "++[b]++[e]"},
      {"((x = $(a)))", "+++[a]"},
      {"coproc a; wait", "+[a]!a coprocess at 8"},
      {"time -p a | b; ! c", "[a][b][c]"},
      {"x=$(a) y=(1 $(b)) c", "+[a]++[b][=x=|=y=|c]"},
      {"a[$(b)]=1", "+[b][=a=1]"},
      {"declare x=(1 $(a))", "++[a][declare|?x=]"},
      {"cat <<E\n$(a) `b`\nE\nc", "[cat|<<E]++[a]++[b][c]"},
      {"cat <<'E'\n$(a)\nE\nc", "[cat|<<E][c]"},
      {"cat <<-E\n\t$(a)\n\tE\nc", "[cat|<<-E]++[a][c]"},
      {"cat <<< $(a)", "+[a][cat|<<<?]"},
      {"a >b 2>>c &>d <e 3<>f >|g >&2", "[a|>b|2>>c|&>d|<e|3<>f|>|g|>&2]"},
      {"read x < <(a)", "+[a][read|x|<?]"},
      {"`echo \\`a\\``", "++[a]+[echo|?][?]"},
      {"a # b; c\nd", "[a][d]"},
      {"a\\\n;b", "[a][b]"},
      {"i\\\nf a; then b; fi", "+[a]+[b]"},
      {"echo if then", "[echo|if|then]"},
      {"\"if\" a", "[if|a]"},
  });
}

TEST_CASE("what is broken, and where") {
  check({
      {"echo 'a", "[echo]!a ' without its end at 5"},
      {"echo \"a", "[echo]!a \" without its end at 7"},
      {"echo `a", "[echo]!a ` without its end at 7"},
      {"echo $(a", "+[a][echo]!')' is missing at 8"},
      {"echo ${a", "[echo]!'}' is missing at 8"},
      {"(a", "+[a]!')' is missing at 2"},
      {"a)", "[a]!an unexpected ')' at 1"},
      {"a;;b", "[a]!';;' or ';&' outside of a case at 1"},
      {"a &&", "[a]!a command is missing after && or || at 4"},
      {"| a", "!a command is missing before '|' at 0"},
      {";a", "!a command is missing before ';' at 0"},
      {"a >", "[a]!the target of a redirection is missing at 3"},
      {"if a; then b", "+[a]+[b]!'fi' is missing at 12"},
      {"if a; fi", "+[a]!'then' is missing at 6"},
      {"fi", "!an unexpected 'fi' at 0"},
      {"{ }", "!a command is missing at 2"},
      {"echo a(b)", "[echo|a]!an unexpected '(' at 6"},
      {"f() a", "!a function needs a compound command at 4"},
      {"case a in b c) d;; esac", "!')' is missing after a pattern at 12"},
      {"case a in", "!'esac' is missing at 9"},
      {"[[ a", "!']]' is missing at 4"},
      {std::string("echo a\0b", 8), "!a NUL byte at 6"},
  });
  CHECK(read_shell("echo 'a").outcome == ShellOutcome::malformed);
}

TEST_CASE("what bash knows and this reader does not is said to be so") {
  for (const char* text :
       {"cat <<E\na", "cat <<E", "cat <<$x\n", "cat <<E\na\\\nE\nE\n", "echo $((a); (b))",
        "((a); (b))", "for x in 1; { a; }", "echo ${ a; }", "echo \"${x:-'}\"", "echo $'\\u00e4'",
        "echo $'\\0'", "echo $'\\ca'", "echo a\\", "echo $(cat <<E)\nE\n"}) {
    INFO(std::string(text));
    CHECK(read_shell(text).outcome == ShellOutcome::unsupported);
  }
}

TEST_CASE("features") {
  const auto features = [](std::string_view text) { return describe(read_shell(text).features); };
  CHECK(features("ls -l 'a b'\n") == "");
  CHECK(features("a|b") == "a pipeline");
  CHECK(features("a;") == "several commands");
  CHECK(features("a\nb") == "several commands");
  CHECK(features("a&") == "a background command");
  CHECK(features("x=1 a") == "an assignment");
  CHECK(features("a >b") == "a redirection");
  CHECK(features("a $x") == "an expansion");
  CHECK(features("a $(b)") == "a substitution");
  CHECK(features("a #b") == "a comment");
  CHECK(features("! a") == "a negation");
  CHECK(features("time a") == "time");
  CHECK(features("a \\\nb") == "a joined line");
  CHECK(features("echo ok\r") == "a control character");
  CHECK(features("echo \xC3\xA4") == "characters beyond ASCII");
  CHECK(features("echo $'a'") == "a $'...'");
  CHECK(features("f() { a; }") == "several commands, a compound command, a function");
  CHECK(name(ShellFeature::coprocess) == "a coprocess");
}

TEST_CASE("a carriage return is a byte of a word, as in bash") {
  CHECK(shown(read_shell("echo ok\r;touch M")) == "[echo|ok\r][touch|M]");
}

TEST_CASE("words know where they stand") {
  const ShellReading reading = read_shell("ls  'a b'");
  CHECK(reading.commands.at(0).words.at(1).begin == 4);
  CHECK(reading.commands.at(0).words.at(1).end == 9);
}

std::string repeated(std::string_view piece, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += piece;
  return text;
}

TEST_CASE("every maximum ends the reading") {
  CHECK(read_shell(std::string(kShellBytesMax, 'a')).outcome == ShellOutcome::understood);
  CHECK(read_shell(std::string(kShellBytesMax + 1, 'a')).outcome == ShellOutcome::too_much);
  CHECK(read_shell(repeated("a;", kShellCommandsMax)).outcome == ShellOutcome::understood);
  CHECK(read_shell(repeated("a;", kShellCommandsMax + 1)).outcome == ShellOutcome::too_much);
  CHECK(read_shell(repeated("a ", kShellWordsMax)).outcome == ShellOutcome::understood);
  CHECK(read_shell(repeated("a ", kShellWordsMax + 1)).outcome == ShellOutcome::too_much);
  CHECK(read_shell(repeated("a'b'", kShellPartsMax)).outcome == ShellOutcome::too_much);
}

TEST_CASE("deep texts end, in a moment") {
  for (const char* open :
       {"(",           "$(",    "((",     "$((",   "\"$(",       "`",       "{ ", "if ",
        "<(",          "${x:-", "a=(",    "f(){ ", "[[ (",       "case $(", "! ", "coproc ",
        "function f ", "$[",    "$(( $(", "a[",    "cat <<E $(", "time "}) {
    const std::string text = repeated(open, 10'000).substr(0, kShellBytesMax);
    INFO(std::string(open));
    CHECK(read_shell(text).outcome != ShellOutcome::understood);
  }
  // Each level of backquotes doubles its backslashes.
  std::string nested = "a";
  for (int i = 0; i < 10; ++i) {
    std::string escaped;
    for (const char c : nested)
      escaped += c == '`' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    nested = "`" + escaped + "`";
  }
  CHECK(read_shell(nested).outcome == ShellOutcome::understood);
}

// Reading one of them took more than a second when a name was looked for at each of its bytes.
TEST_CASE("a name as long as a text is read a hundred times in a moment") {
  for (int i = 0; i < 100; ++i) {
    const auto reading = read_shell(std::string(kShellBytesMax - 2, 'a') + "=b");
    REQUIRE(reading.commands.size() == 1);
    CHECK(reading.commands[0].assignments.size() == 1);
  }
}

}  // namespace
}  // namespace pawl
