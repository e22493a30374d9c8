// The cases sc-X of the safety document, with its policy: nothing of them may run without a
// question.
#include "pawl/gate/shell/shell_rules.h"

#include <doctest/doctest.h>

#include "pawl/base/shared_data_test.h"
#include "pawl/gate/shell/shell_reader.h"

namespace pawl {
namespace {

const ShellPolicy kPolicy = {
    {"echo", "ls", "cat", "grep", "find", "sort", "sed", "git status", "git diff", "git log"}};
using Words = std::vector<std::string>;

void never_runs(std::string_view text) {
  for (const ShellGrammar grammar : {ShellGrammar::single, ShellGrammar::lists}) {
    ShellPolicy policy = kPolicy;
    policy.grammar = grammar;
    const Judgement judgement = judge_shell(text, policy);
    INFO(std::string(text) << " -> " << judgement.reason);
    CHECK(judgement.verdict != Verdict::allow);
    CHECK(judgement.reason != "");
    CHECK(judgement.rule != "");
  }
}

TEST_CASE("sc-X01..X05 operators, substitutions, redirections, here-documents") {
  for (const char* text : {"echo ok && touch M",
                           "echo ok; touch M",
                           "echo ok || touch M",
                           "echo ok | touch M",
                           "echo ok & touch M",
                           "echo ok\ntouch M",
                           "(touch M)",
                           "{ touch M; }",
                           "echo $(touch M)",
                           "echo `touch M`",
                           "echo \"${x:=$(touch M)}\"",
                           "echo <(touch M)",
                           "read x < <(touch M)",
                           "echo x >M",
                           ": >M",
                           "echo x | tee M",
                           "cat <<E\n$(touch M)\nE",
                           "cat <<< $(touch M)",
                           "echo x >>M",
                           "echo x >|M",
                           "echo x &>M",
                           "ls <M",
                           "echo ok &"}) {
    never_runs(text);
  }
}

TEST_CASE("sc-X06..X16 programs that are more than readers") {
  for (const char* text : {"find . -exec touch M \\;",
                           "find . -fprint M",
                           "find . -delete",
                           "find . -ok x \\;",
                           "sort --outp M a",
                           "sort --compress-prog=./x a",
                           "sed -n 1wM a",
                           "sed 1e\"touch M\"",
                           "sed \"s/^/touch M/e\"",
                           "awk 'BEGIN{system(\"touch M\")}'",
                           "env touch M",
                           "nice touch M",
                           "timeout 2 touch M",
                           "command touch M",
                           "exec touch M",
                           "time touch M",
                           "! touch M",
                           "xargs touch M",
                           "env -S \"touch M\"",
                           "git -c alias.x='!touch M' x",
                           "git -c core.pager='touch M' log",
                           "git ls-remote --upload-pack=\"touch M\" .",
                           "git diff --output=M",
                           "GIT_SSH_COMMAND=\"touch M\" git ls-remote ssh://x/y",
                           "BASH_ENV=M ls",
                           "LD_PRELOAD=./x ls",
                           "GIT_EXTERNAL_DIFF=x git diff",
                           "PATH=.:$PATH ls",
                           "tar cf /dev/null a --checkpoint=1 --checkpoint-action=exec=\"touch M\"",
                           "tar cf /dev/null a -I \"touch M;cat\"",
                           "zip z a -T -TT \"touch M\"",
                           "split --filter=\"touch M\"",
                           "ssh -o ProxyCommand=\"touch M\" x",
                           "vim -es +q",
                           "echo $[ a[$(touch M)] ]",
                           "printf -v \"a[$(touch M)]\" 1",
                           "test -v 'a[$(touch M)]'",
                           "[[ -v a[$(touch M)] ]]",
                           "x='$(touch M)'; echo ${x@P}",
                           "LD_PRELOAD=x",
                           "a[$(touch M)]=1"}) {
    never_runs(text);
  }
}

TEST_CASE("sc-X17, X20..X22, X25, X27 and what is like them") {
  for (const char* text : {"echo${IFS}ok;touch${IFS}M",
                           "f(){ touch M;};f",
                           "trap \"touch M\" EXIT",
                           "coproc touch M; wait",
                           "mapfile -C \"touch M;:\" -c 1 <<< x",
                           "echo ok\r;touch M",
                           "ls\r",
                           "head *",
                           "grep x $HOME/.ssh/id_rsa",
                           "tail ~root/x",
                           "cat ~/.ssh/id_rsa",
                           "ls [a-z]",
                           "cat {a,b}",
                           "curl -o M x",
                           "dd of=M",
                           "install a M",
                           "sort -o M a",
                           "\xD0\xB5"
                           "cho ok",
                           "echo ok\xEF\xBC\x9B touch M",
                           "echo\xC2\xA0ok",
                           "e\xE2\x80\x8B"
                           "cho ok",
                           "ls \x1b[2K",
                           "./ls",
                           "/tmp/ls",
                           "bash",
                           "eval ls",
                           "source x",
                           ". x",
                           "echo $'a\\'; touch M #'"}) {
    never_runs(text);
  }
}

TEST_CASE("sc-X18 more commands than anybody reads, with a deny rule") {
  ShellPolicy policy = kPolicy;
  policy.deny = {"curl"};
  std::string text;
  for (int i = 0; i < 60; ++i) text += "true;";
  CHECK(judge_shell(text + "curl http://127.0.0.1:9/", policy).verdict == Verdict::deny);
  CHECK(judge_shell(text, policy).verdict == Verdict::deny);
}

TEST_CASE("sc-X23 a program's name with a space is refused, and shown") {
  const Judgement judgement = judge_argv(Words{"git ", "status"}, kPolicy);
  CHECK(judgement.verdict == Verdict::deny);
  CHECK(judgement.reason == "the program's name \"git \" holds a space or a control character");
  CHECK(judge_argv(Words{" ls"}, kPolicy).verdict == Verdict::deny);
  CHECK(judge_argv(Words{"ls\n"}, kPolicy).verdict == Verdict::deny);
  CHECK(judge_shell("'git ' status", kPolicy).verdict != Verdict::allow);
}

TEST_CASE("sc-X24 text and words that differ are refused") {
  CHECK(judge_shell_and_argv("ls", Words{"rm", "-rf", "x"}, kPolicy).verdict == Verdict::deny);
  CHECK(judge_shell_and_argv("ls", Words{}, kPolicy).verdict == Verdict::deny);
  CHECK(judge_shell_and_argv("ls $x", Words{"ls", ""}, kPolicy).verdict == Verdict::deny);
  CHECK(judge_shell_and_argv("ls 'a b'", Words{"ls", "a b"}, kPolicy).verdict == Verdict::allow);
  CHECK(judge_shell_and_argv("rm x", Words{"rm", "x"}, kPolicy).verdict == Verdict::ask);
}

TEST_CASE("sc-X26 deny rules see through quotes, paths and wrappers") {
  ShellPolicy policy = kPolicy;
  policy.deny = {"curl", "wget *"};
  for (const char* text :
       {"curl x", "cu\"\"rl x", "\\curl x", "/usr/bin/curl x", "./curl", "c${x}url y",
        "busybox wget x", "$'\\x63url' x", "echo $(curl x)", "bash -c 'curl x'", "env curl",
        "ls; curl", "f() { curl; }", "echo $((1); (curl x))", "echo 'curl", "ls | xargs curl"}) {
    INFO(std::string(text));
    CHECK(judge_shell(text, policy).verdict == Verdict::deny);
  }
  CHECK(judge_shell("echo curl", policy).verdict == Verdict::allow);
  CHECK(judge_argv(Words{"/usr/bin/curl"}, policy).verdict == Verdict::deny);
  CHECK(judge_argv(Words{"bash", "-c", "curl x"}, policy).verdict == Verdict::deny);
}

TEST_CASE("sc-X28 the user's deny stands against a project's allow of everything") {
  ShellPolicy user = kPolicy;
  user.deny = {"rm*"};
  ShellPolicy project;
  project.allow = {"*"};
  project.grammar = ShellGrammar::lists;
  const ShellPolicy both = tightened(user, project);
  CHECK(judge_shell("rm x", both).verdict == Verdict::deny);
  CHECK(judge_shell("wc -l a", both).verdict == Verdict::ask);
  CHECK(judge_shell("touch M", both).verdict == Verdict::ask);
  CHECK(both.grammar == ShellGrammar::single);
  CHECK(both.allow == user.allow);
}

TEST_CASE("a project narrows what is allowed, and adds what is denied") {
  ShellPolicy project;
  project.allow = {"ls", "wc", "make all"};
  project.deny = {"git *"};
  const ShellPolicy both = tightened(kPolicy, project);
  CHECK(both.allow == Words{"ls"});
  CHECK(judge_shell("git status", both).verdict == Verdict::deny);
  CHECK(tightened({}, project).allow == Words{"ls", "wc"});
}

TEST_CASE("sc-X29 what cannot be read is denied") {
  for (const std::string& text :
       {std::string("echo 'x"), std::string("echo \"x"), std::string(200'000, 'a'),
        std::string("echo a\0b", 8), std::string(""), std::string("echo $(ls"), std::string(")"),
        "ls " + std::string(200'000, ' ')}) {
    CHECK(judge_shell(text, kPolicy).verdict == Verdict::deny);
  }
  CHECK(judge_argv(Words{std::string("ls\0", 3)}, kPolicy).verdict == Verdict::deny);
  CHECK(judge_argv(Words{"ls", std::string("a\0b", 3)}, kPolicy).verdict == Verdict::deny);
  CHECK(judge_argv(Words{"ls", std::string(200'000, 'a')}, kPolicy).verdict == Verdict::deny);
  CHECK(judge_argv(Words(kShellWordsMax + 1, "ls"), kPolicy).verdict == Verdict::deny);
  CHECK(judge_argv({}, kPolicy).verdict == Verdict::deny);
}

TEST_CASE("what is allowed runs") {
  for (const char* text :
       {"ls", "ls -la src", "echo 'a; b'", "cat a.txt", "git status --short", "git diff HEAD~1",
        "grep -rn 'x y' src", "find . -name '*.cc'", "timeout 5 ls", "nice ls", "env ls",
        "command ls", "\"ls\" -l", "\n ls \n", "sort -n a"}) {
    INFO(std::string(text) << " -> " << judge_shell(text, kPolicy).reason);
    CHECK(judge_shell(text, kPolicy).verdict == Verdict::allow);
  }
  CHECK(judge_argv(Words{"ls", "-l", "a b", "*"}, kPolicy).verdict == Verdict::allow);
  CHECK(judge_argv(Words{"echo", "a\n\tb"}, kPolicy).verdict == Verdict::allow);
  CHECK(judge_shell("echo 'a\n\tb'", kPolicy).verdict == Verdict::allow);
  CHECK(judge_argv(Words{"echo", "a\rb"}, kPolicy).verdict == Verdict::ask);
  CHECK(judge_argv(Words{"ls", "\xC3\xA4"}, kPolicy).verdict == Verdict::ask);
}

TEST_CASE("lists run only if asked for, and only if each part may") {
  ShellPolicy policy = kPolicy;
  CHECK(judge_shell("ls | sort", policy).verdict == Verdict::ask);
  policy.grammar = ShellGrammar::lists;
  CHECK(judge_shell("ls | sort -n && git status; echo x", policy).verdict == Verdict::allow);
  CHECK(judge_shell("ls | sort -o M", policy).verdict == Verdict::ask);
  CHECK(judge_shell("ls | (sort)", policy).verdict == Verdict::ask);
  CHECK(judge_shell("ls | sort >M", policy).verdict == Verdict::ask);
  CHECK(judge_shell("ls &", policy).verdict == Verdict::ask);
}

TEST_CASE("an allowed command that is no reader must be met word by word") {
  ShellPolicy policy;
  policy.allow = {"make test", "cargo"};
  CHECK(judge_shell("make test", policy).verdict == Verdict::allow);
  CHECK(judge_shell("make 'test'", policy).verdict == Verdict::allow);
  CHECK(judge_shell("make test x", policy).verdict == Verdict::ask);
  CHECK(judge_shell("make", policy).verdict == Verdict::ask);
  CHECK(judge_shell("cargo", policy).verdict == Verdict::allow);
  CHECK(judge_shell("cargo run", policy).verdict == Verdict::ask);
}

TEST_CASE("deny beats ask beats allow") {
  ShellPolicy policy = kPolicy;
  policy.ask = {"ls"};
  CHECK(judge_shell("ls", policy).rule == "shell.ask");
  policy.deny = {"ls"};
  CHECK(judge_shell("ls", policy).rule == "shell.deny");
}

TEST_CASE("nothing of the public corpora runs without a question") {
  for (const char* file : {"shell_corpus.txt", "command-execution-unix.txt"}) {
    const std::string lines = shared_file(shared_data() / "suites/payloads" / file);
    if (lines.empty()) {
      MESSAGE("skipped: no " << std::string(file));
      continue;
    }
    std::size_t count = 0;
    for (std::size_t begin = 0; begin < lines.size(); ++count) {
      const std::size_t end = std::min(lines.find('\n', begin), lines.size());
      never_runs(lines.substr(begin, end - begin));
      begin = end + 1;
    }
    MESSAGE(std::string(file) << ": " << count << " lines");
    CHECK(count > 50);
  }
}

}  // namespace
}  // namespace pawl
