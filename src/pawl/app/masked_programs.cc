#include "pawl/app/masked_programs.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "pawl/base/program_path.h"
#include "pawl/runtime/permission/glob.h"
#include "pawl/runtime/permission/shell_commands.h"

namespace pawl {
namespace {

constexpr std::string_view kSandboxPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr std::array<std::string_view, 5> kManyInOne = {"busybox", "toybox", "systemctl",
                                                        "coreutils", "systemd"};

// "curl" or "curl *"; empty: the pattern names arguments, or several programs.
std::string whole_program(std::string_view pattern) {
  const std::vector<std::string_view> words = pattern_words(pattern);
  const bool any = std::all_of(words.begin() + (words.empty() ? 0 : 1), words.end(),
                               [](std::string_view word) { return word == "*"; });
  if (words.empty() || !any || words[0].find_first_of("*?") != std::string_view::npos) return {};
  return std::string(words[0]);
}

// The argument in which the tool has its command.
std::string_view command_argument(std::string_view tool) {
  return tool == "exec" ? "argv" : "command";
}

bool denies_for(const ToolRule& rule, const std::string& tool) {
  if (!rule.enabled || rule.verdict != Verdict::deny || !rule.script.empty()) return false;
  if (!rule.during.empty() || rule.pattern.arguments.size() != 1) return false;
  const ArgumentCondition& condition = rule.pattern.arguments.front();
  return condition.kind == ConditionKind::runs && condition.sense == Sense::is &&
         condition.argument == command_argument(tool) && glob_matches(rule.pattern.tool, tool);
}

std::vector<std::string> denied_for(const std::vector<ToolRule>& rules,
                                    const std::optional<ShellPolicy>& shell,
                                    const std::string& tool) {
  std::vector<std::string> names;
  const auto add = [&names](const std::vector<std::string>& patterns) {
    for (const std::string& pattern : patterns) {
      std::string name = whole_program(pattern);
      if (!name.empty()) names.push_back(std::move(name));
    }
  };
  for (const ToolRule& rule : rules) {
    if (denies_for(rule, tool)) add(rule.pattern.arguments.front().values);
  }
  if (shell) add(shell->deny);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool is_many_in_one(const std::string& file) {
  const std::string_view name = command_base_name(file);
  return std::find(kManyInOne.begin(), kManyInOne.end(), name) != kManyInOne.end();
}

}  // namespace

std::vector<std::string> programs_denied(const std::vector<ToolRule>& rules,
                                         const std::optional<ShellPolicy>& shell,
                                         const std::vector<std::string>& tools) {
  std::optional<std::vector<std::string>> common;
  for (const std::string& tool : tools) {
    if (tool != "bash" && tool != "exec") continue;
    std::vector<std::string> names = denied_for(rules, shell, tool);
    if (common) {
      std::erase_if(*common, [&names](const std::string& name) {
        return !std::binary_search(names.begin(), names.end(), name);
      });
    } else {
      common = std::move(names);
    }
  }
  return common.value_or(std::vector<std::string>());
}

std::vector<std::string> files_of_programs(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    for (const std::string& candidate : program_candidates(name, kSandboxPath)) {
      std::error_code none;
      const std::string file = std::filesystem::canonical(candidate, none).string();
      if (none || !std::filesystem::is_regular_file(file, none) || is_many_in_one(file)) continue;
      if (std::find(files.begin(), files.end(), file) != files.end()) continue;
      if (files.size() < kMaskedProgramsMax) files.push_back(file);
    }
  }
  return files;
}

}  // namespace pawl
