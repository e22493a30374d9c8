// The rules that Pawl ships. Protected ones hold whatever a file says; the others are defaults that
// a user may change by id. None of them is the boundary: the sandbox is.
#include <utility>

#include "pawl/runtime/permission/rules.h"

namespace pawl {
namespace {

using Patterns = std::vector<std::string>;

struct Guard {
  const char* id;
  Verdict verdict;
  Protection protection;
  const char* reason;
  Patterns patterns;
};

Patterns system_removals() {
  Patterns patterns = {"chmod -R /", "chown -R /"};
  for (const char* option : {"-r", "-R", "--recursive"}) {
    patterns.push_back(std::string("rm --no-preserve-root ") + option);
    for (const char* place : {"/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib*", "/opt",
                              "/root", "/sbin", "/usr", "/var"}) {
      patterns.push_back(std::string("rm ") + option + " " + place);
    }
  }
  return patterns;
}

const std::vector<Guard>& command_guards() {
  static const std::vector<Guard> guards = {
      {"destroy-system", Verdict::deny, Protection::is_protected,
       "this would delete the system or a home directory; name the files that are meant",
       system_removals()},
      {"destroy-disk",
       Verdict::deny,
       Protection::is_protected,
       "this would overwrite a disk",
       {"mkfs*", "wipefs", "dd of=/dev/*", "shred /dev/*", "blkdiscard", "fdisk /dev/*",
        "parted /dev/*"}},
      {"machine-state",
       Verdict::deny,
       Protection::none,
       "the machine is not to be stopped or restarted",
       {"shutdown", "reboot", "halt", "poweroff", "init", "telinit", "kexec", "systemctl poweroff",
        "systemctl reboot"}},
      {"privileges",
       Verdict::deny,
       Protection::none,
       "no other user's rights are to be had here; do it without",
       {"sudo", "sudo-rs", "doas", "su", "run0", "pkexec", "runuser"}},
      {"force-push",
       Verdict::deny,
       Protection::none,
       "do not overwrite what others may have; push without force",
       {"git push --force*", "git push -f", "git push +*", "git push --mirror", "git push --delete",
        "git push -d", "git push :?*"}},
      {"lose-work",
       Verdict::ask,
       Protection::none,
       "this throws away work that is not committed",
       {"git reset --hard", "git clean -f", "git clean --force", "git checkout --force",
        "git branch -D", "git stash drop", "git stash clear", "rm -r", "rm -R", "rm --recursive"}},
      {"publish",
       Verdict::ask,
       Protection::none,
       "this publishes to others",
       {"npm publish", "cargo publish", "twine upload", "gem push", "docker push", "podman push",
        "git push", "gh release", "gh pr merge"}},
  };
  return guards;
}

ToolRule rule_for(const Guard& guard, const char* tool, const char* argument) {
  ToolRule rule;
  rule.id = std::string(guard.id) + "." + tool;
  // "bash*": the tool is called bash_tool by some.
  rule.pattern.tool = std::string(tool) == "bash" ? "bash*" : tool;
  rule.pattern.arguments = {{argument, ConditionKind::runs, Sense::is, guard.patterns}};
  rule.verdict = guard.verdict;
  rule.reason = guard.reason;
  rule.protection = guard.protection;
  return rule;
}

ToolRule names_rule(const char* id, const char* tool, const char* argument, const char* regex) {
  ToolRule rule;
  rule.id = id;
  rule.pattern = {tool, {{argument, ConditionKind::regex, Sense::is, {regex}}}};
  rule.verdict = Verdict::deny;
  rule.reason = "files of git, ssh and pawl itself are not to be written by tools";
  rule.protection = Protection::is_protected;
  return rule;
}

void add_file_rules(std::vector<ToolRule>& rules) {
  constexpr const char* kNames = R"((?i)(^|/)(\.git|\.ssh|\.gnupg|\.pawl)(/|$))";
  constexpr const char* kPatched =
      R"((?im)^(\+\+\+|---|\*\*\*|diff|rename|copy) [^\n]*(\.git|\.ssh|\.gnupg|\.pawl)(/|\s|$))";
  constexpr const char* kPatchedStartup =
      R"((?im)^(\+\+\+|---|\*\*\*|diff|rename|copy) ([^\n]*[/ ])?\.((bash|zsh)[a-z_]*|profile|envrc|npmrc|netrc)(\s|$))";
  constexpr const char* kStartup = "programs run what stands in this file";
  rules.push_back(names_rule("protected-names.create_file", "create_file", "path", kNames));
  rules.push_back(names_rule("protected-names.str_replace", "str_replace", "path", kNames));
  rules.push_back(names_rule("protected-names.apply_patch", "apply_patch", "*", kPatched));
  for (const char* tool : {"create_file", "str_replace"}) {
    ToolRule startup;
    startup.id = std::string("startup-files.") + tool;
    startup.pattern = {
        tool,
        {{"path",
          ConditionKind::regex,
          Sense::is,
          {R"((?i)(^|/)\.(bash|zsh)[a-z_]*$)", R"((?i)(^|/)\.(profile|envrc|npmrc|netrc)$)"}}}};
    startup.reason = kStartup;
    rules.push_back(std::move(startup));
  }
  ToolRule patched;
  patched.id = "startup-files.apply_patch";
  patched.pattern = {"apply_patch", {{"*", ConditionKind::regex, Sense::is, {kPatchedStartup}}}};
  patched.reason = kStartup;
  rules.push_back(std::move(patched));
}

}  // namespace

std::vector<ToolRule> default_rules() {
  std::vector<ToolRule> rules;
  for (const Guard& guard : command_guards()) {
    rules.push_back(rule_for(guard, "bash", "command"));
    rules.push_back(rule_for(guard, "exec", "argv"));
  }
  add_file_rules(rules);
  for (const char* tool : {"http_fetch", "http_post"}) {
    ToolRule plain_http;
    plain_http.id = std::string("plain-http.") + tool;
    plain_http.pattern = {tool, {{"url", ConditionKind::scheme, Sense::is_not, {"https"}}}};
    plain_http.reason = "anybody on the way can read and change what is not https";
    rules.push_back(std::move(plain_http));
  }
  return rules;
}

}  // namespace pawl
