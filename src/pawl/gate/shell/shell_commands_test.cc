#include "pawl/gate/shell/shell_commands.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace pawl {
namespace {

bool finds(std::string_view text, std::string_view program) {
  const FoundCommands found = commands_in_text(text);
  return std::any_of(found.commands.begin(), found.commands.end(),
                     [program](const auto& argv) { return argv.at(0) == program; });
}

TEST_CASE("commands behind wrappers, shells and strings are found") {
  for (const char* text : {"rm x",
                           "a; rm x",
                           "echo $(rm x)",
                           "f() { rm x; }",
                           "env rm x",
                           "env -i A=b rm x",
                           "env -S 'rm x'",
                           "env --split-string='rm x'",
                           "env -S'rm x'",
                           "nice -n 5 rm x",
                           "timeout -s KILL 5 rm x",
                           "command -p rm x",
                           "exec -a y rm x",
                           "sudo -u root rm x",
                           "xargs -I{} rm {}",
                           "time rm x",
                           "! rm x",
                           "bash -c 'rm x'",
                           "bash -lc 'a; rm x'",
                           "sh -o pipefail -c 'rm x'",
                           "bash -c -o pipefail 'rm x'",
                           "bash -c \"bash -c 'rm x'\"",
                           "eval rm x",
                           "eval 'r''m' x",
                           "trap 'rm x' EXIT",
                           "find . -exec rm {} +",
                           "nice find . -execdir rm ';'",
                           "sudo bash -c 'rm x'",
                           "cat <<E\n$(rm x)\nE",
                           "if a; then rm x; fi",
                           "a | rm x",
                           "mapfile -C 'rm x' -c 1",
                           "ssh h 'rm x'",
                           "su -c 'rm x'",
                           "alias a='rm x'",
                           "echo `rm x`",
                           "/bin/sh -c 'rm x'",
                           "bash <<E\nrm x\nE",
                           "bash <<'E'\nrm x\nE",
                           "sudo sh -s <<-E\n\trm x\n\tE",
                           "bash <<<'rm x'",
                           "source /dev/stdin <<<'rm x'",
                           "cat <<E | sh\nrm x\nE",
                           "echo 'a; rm x' | bash",
                           "echo rm x | bash",
                           "echo -e 'a\\nrm x' | bash",
                           "printf '%s\\n' 'rm x' | env bash",
                           "bash <(echo rm x)",
                           "flock l -c 'rm x'",
                           "script -qc 'rm x'",
                           "script --command='rm x' f",
                           "sg g 'rm x'",
                           "tmux new -d 'rm x'",
                           "setarch x86_64 -R rm x",
                           "/lib64/ld-linux-x86-64.so.2 rm x",
                           "r${y}m x",
                           "bash -c \"rm $x\""}) {
    INFO(std::string(text));
    CHECK(finds(text, "rm"));
  }
  CHECK_FALSE(finds("echo rm", "rm"));
  CHECK_FALSE(finds("cat <<E\nrm x\nE", "rm"));
  CHECK_FALSE(finds("echo rm | cat", "rm"));
  CHECK_FALSE(finds("find . -name rm", "rm"));
}

TEST_CASE("what cannot be read is said, and the worst counts") {
  CHECK(commands_in_text("echo 'a").outcome == ShellOutcome::malformed);
  CHECK(commands_in_text("echo 'a").why == "a ' without its end at byte 5");
  // An argument that is only perhaps a text does not make the whole malformed.
  CHECK(commands_in_text("bash -c \"it's\"").outcome == ShellOutcome::unsupported);
  std::string nested = "rm";
  for (std::size_t i = 0; i < kFoundDepthMax + 1; ++i) nested = "eval " + nested;
  CHECK(commands_in_text(nested).outcome == ShellOutcome::too_much);
  std::string many = "sudo";
  for (std::size_t i = 0; i < kFoundCommandsMax; ++i) many += " a";
  CHECK(commands_in_text(many).outcome == ShellOutcome::too_much);
}

TEST_CASE("patterns for commands") {
  using Words = std::vector<std::string>;
  struct Case {
    const char* pattern;
    Words argv;
    bool matches;
  };
  const Case cases[] = {
      {"rm", {"rm"}, true},
      {"rm", {"/bin/rm", "x"}, true},
      {"rm *", {"rm", "x"}, true},
      {"rm *", {"rm"}, true},
      {"rm*", {"rmdir"}, true},
      {"rm", {"rmdir"}, false},
      {"/usr/bin/curl", {"/usr/bin/curl"}, true},
      {"/usr/bin/curl", {"curl"}, false},
      {"rm -rf", {"rm", "-r", "x", "-f"}, true},
      {"rm -rf", {"rm", "-fr"}, true},
      {"rm -rf", {"rm", "-r"}, false},
      {"rm -rf /", {"rm", "-rf", "//"}, true},
      {"rm -rf /", {"rm", "-rf", "/usr/.."}, true},
      {"rm -rf /", {"rm", "-rf", "/usr"}, false},
      {"git push --force", {"git", "-C", "d", "push", "origin", "--force"}, true},
      {"git push --force", {"git", "push", "--forc"}, true},
      {"git push --force", {"git", "push", "--force=yes"}, true},
      {"git push --force*", {"git", "push", "--force-with-lease"}, true},
      {"git push --force", {"git", "push"}, false},
      {"git push --force", {"git", "fetch", "--force"}, false},
      {"git push", {"git", "stash", "push"}, true},
      {"dd of=/dev/*", {"dd", "if=a", "of=/dev/sda"}, true},
      {"", {"rm"}, false},
      {"*", {"anything"}, true},
      {"rm", {}, false},
  };
  for (const Case& one : cases) {
    INFO(std::string(one.pattern));
    CHECK(command_matches(one.pattern, one.argv) == one.matches);
  }
}

TEST_CASE("an unreadable text matches when the name is in it") {
  const std::vector<std::string> patterns = {"curl *"};
  const auto match = [&patterns](std::string_view text) {
    return matching_pattern(patterns, commands_in_text(text), text);
  };
  CHECK(match("curl x") == "curl *");
  CHECK(match("echo $((a); (curl x))") == "curl *");
  CHECK(match("echo $((a); (cu\"\"rl x))") == "curl *");
  CHECK(match("echo $((a); (b))") == "");
  CHECK(match("echo curl") == "");
  CHECK(match("echo $((a); (curling))") == "");
  CHECK(match("echo $((a); (xcurl; /usr/bin/curl))") == "curl *");
  const std::vector<std::string> glob = {"mkfs*"};
  const std::string_view text = "echo $((a); (mkfs.ext4 x))";
  CHECK(matching_pattern(glob, commands_in_text(text), text) == "mkfs*");
  const std::vector<std::string> all = {"*"};
  CHECK(matching_pattern(all, commands_in_text("'"), "'") == "*");
}

TEST_CASE("wrappers that change nothing") {
  using Words = std::vector<std::string>;
  CHECK(plain_wrapper_words(Words{"timeout", "5", "ls"}) == 2);
  CHECK(plain_wrapper_words(Words{"timeout", "1.5m", "ls"}) == 2);
  CHECK(plain_wrapper_words(Words{"timeout", "-k", "ls"}) == 0);
  CHECK(plain_wrapper_words(Words{"timeout", "5", "-k"}) == 0);
  CHECK(plain_wrapper_words(Words{"timeout", "x", "ls"}) == 0);
  CHECK(plain_wrapper_words(Words{"timeout", "5"}) == 0);
  CHECK(plain_wrapper_words(Words{"env", "ls"}) == 1);
  CHECK(plain_wrapper_words(Words{"env", "A=b", "ls"}) == 0);
  CHECK(plain_wrapper_words(Words{"env", "-S", "ls"}) == 0);
  CHECK(plain_wrapper_words(Words{"nice", "ls"}) == 1);
  CHECK(plain_wrapper_words(Words{"command", "ls"}) == 1);
  CHECK(plain_wrapper_words(Words{"command"}) == 0);
  CHECK(plain_wrapper_words(Words{"sudo", "ls"}) == 0);
}

}  // namespace
}  // namespace pawl
