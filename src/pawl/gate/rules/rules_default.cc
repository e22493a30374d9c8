// The rules that Pawl ships. Protected ones hold whatever a file says; the others are defaults that
// a user may change by id. None of them is the boundary: the sandbox is.
#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "pawl/gate/rules/rules.h"
#include "pawl/port/protected_names.h"

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
        "git push", "git send-pack", "git http-push", "gh release", "gh pr merge"}},
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

// "\.ssh|\.cargo/credentials": the table's names of a class that hold at any depth, for RE2.
std::string alternatives(std::initializer_list<NameClass> kinds, std::string regex) {
  for (const ProtectedName& name : kProtectedNames) {
    const bool wanted = std::find(kinds.begin(), kinds.end(), name.kind) != kinds.end();
    if (!wanted || (name.reach == NameReach::places && name.kind != NameClass::ask)) continue;
    if (!regex.empty()) regex += '|';
    for (const char letter : name.path) {
      if (letter == '.') regex += '\\';
      regex += letter;
    }
  }
  return regex;
}

// Of what a file tool is asked to write: three rules, one a tool.
void add_names(std::vector<ToolRule>& rules, const ToolRule& model, const std::string& names) {
  const std::string path = "(?i)(^|/)(" + names + ")(/|$)";
  const std::string patched =
      R"((?im)^(\+\+\+|---|\*\*\*|diff|rename|copy) ([^\n]*[/ ])?()" + names + R"()(/|\s|$))";
  for (const char* tool : {"create_file", "str_replace", "apply_patch"}) {
    const bool patch = std::string_view(tool) == "apply_patch";
    ToolRule rule = model;
    rule.id += std::string(".") + tool;
    rule.pattern = {
        tool, {{patch ? "*" : "path", ConditionKind::regex, Sense::is, {patch ? patched : path}}}};
    rules.push_back(std::move(rule));
  }
}

void add_file_rules(std::vector<ToolRule>& rules) {
  ToolRule denied;
  denied.id = "protected-names";
  denied.verdict = Verdict::deny;
  denied.reason =
      "files that programs of the host run or believe, and credentials, are not to be written by "
      "tools";
  denied.protection = Protection::is_protected;
  add_names(rules, denied, alternatives({NameClass::never_written, NameClass::secret}, R"(\.git)"));
  ToolRule asked;
  asked.id = "asked-names";
  asked.reason = "editors and package managers run what stands in this file";
  asked.protection = Protection::is_protected;
  add_names(rules, asked, alternatives({NameClass::ask}, ""));
  ToolRule startup;
  startup.id = "startup-files";
  startup.reason = "programs run what stands in this file";
  add_names(rules, startup, R"(\.(bash|zsh)[a-z_]*|\.profile)");
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
