#include "pawl/gate/masked_programs.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "pawl/base/program_path.h"
#include "pawl/gate/rules/glob.h"
#include "pawl/gate/shell/shell_commands.h"

namespace pawl {
namespace {

constexpr std::array<std::string_view, 5> kManyInOne = {"busybox", "toybox", "systemctl",
                                                        "coreutils", "systemd"};

constexpr std::size_t kPieceBytes = 64U << 10U;

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

Error cannot_mask(const std::string& why) {
  return {ErrorCode::limit_exceeded,
          "the programs that rules deny cannot all be masked in the sandbox: " + why +
              "; deny fewer programs as a whole, or list what may run in shell.allow"};
}

// A file that a name resolves to.
struct ProgramFile {
  std::string path;
  std::string name;  // that a rule denies
};

bool is_plain_file(const std::string& path) {
  std::error_code none;
  return std::filesystem::is_regular_file(std::filesystem::symlink_status(path, none));
}

// The next bytes, as long as there are any. Iterators of a stream would throw where a file cannot
// be read.
std::string_view next_piece(std::ifstream& file, std::vector<char>& room) {
  file.read(room.data(), static_cast<std::streamsize>(room.size()));
  return {room.data(), static_cast<std::size_t>(file.gcount())};
}

bool has_bytes_of(const std::string& left, const std::string& right) {
  std::ifstream one(left, std::ios::binary);
  std::ifstream other(right, std::ios::binary);
  std::vector<char> here(kPieceBytes);
  std::vector<char> there(kPieceBytes);
  while (one && other) {
    if (next_piece(one, here) != next_piece(other, there)) return false;
  }
  return one.eof() && other.eof() && !one.bad() && !other.bad();
}

// A hard link, or a copy. One of the same size that is too large to compare counts as one.
bool is_twin(const ProgramFile& program, const std::string& path) {
  std::error_code none;
  if (!is_plain_file(path)) return false;
  if (std::filesystem::equivalent(path, program.path, none)) return true;
  const auto size = std::filesystem::file_size(path, none);
  if (none || size != std::filesystem::file_size(program.path, none) || none) return false;
  return size > kComparedProgramBytesMax || has_bytes_of(path, program.path);
}

// Each directory of PATH, and those in which a system keeps more of the program ("git-core").
std::vector<std::string> places_of_twins(const std::vector<std::string>& names,
                                         std::string_view path) {
  std::vector<std::string> places;
  const auto add = [&places](const std::string& directory) {
    std::error_code none;
    std::string real = std::filesystem::canonical(directory, none).string();
    if (!none && std::ranges::find(places, real) == places.end()) places.push_back(std::move(real));
  };
  for (const std::string& entry : program_candidates(".", path)) add(entry);
  for (const std::string& name : names) {
    if (name.find('/') != std::string::npos) continue;
    for (const char* library :
         {"/usr/lib/", "/usr/libexec/", "/usr/local/lib/", "/usr/local/libexec/"}) {
      add(library + name);
      add(library + name + "-core");
    }
  }
  return places;
}

// Copies are looked for among names that begin as the program's does: all files of a system would
// be too many to compare.
Result<std::vector<std::string>> twins_in(const std::string& directory,
                                          const std::vector<ProgramFile>& programs) {
  std::vector<std::string> twins;
  std::error_code none;
  std::size_t looked = 0;
  for (std::filesystem::directory_iterator entry(directory, none), end; !none && entry != end;
       entry.increment(none)) {
    if (++looked > kProgramEntriesMax) {
      return cannot_mask(directory + " has more than " + std::to_string(kProgramEntriesMax) +
                         " entries, too many to look for other names of denied programs");
    }
    const std::string shown = entry->path().filename().string();
    std::error_code gone;
    const bool linked = entry->hard_link_count(gone) > 1 && !gone;
    const auto is_it = [&](const ProgramFile& program) {
      return (linked || shown.starts_with(program.name)) && is_twin(program, entry->path());
    };
    if (std::ranges::any_of(programs, is_it)) twins.push_back(entry->path());
  }
  return twins;
}

bool is_many_in_one(const std::string& file) {
  const std::string_view name = command_base_name(file);
  return std::find(kManyInOne.begin(), kManyInOne.end(), name) != kManyInOne.end();
}

// The files of `names` on PATH, links resolved.
std::vector<ProgramFile> programs_of(const std::vector<std::string>& names, std::string_view path) {
  std::vector<ProgramFile> programs;
  for (const std::string& name : names) {
    for (const std::string& candidate : program_candidates(name, path)) {
      std::error_code none;
      ProgramFile program{std::filesystem::canonical(candidate, none).string(),
                          std::string(command_base_name(name))};
      if (none || is_many_in_one(program.path) || !is_plain_file(program.path)) continue;
      programs.push_back(std::move(program));
    }
  }
  return programs;
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

Result<std::vector<std::string>> files_of_programs(const std::vector<std::string>& names,
                                                   std::string_view path) {
  const std::vector<ProgramFile> programs = programs_of(names, path);
  std::vector<std::string> files;
  const auto add = [&files](const std::string& file) {
    if (std::ranges::find(files, file) == files.end()) files.push_back(file);
  };
  for (const ProgramFile& program : programs) add(program.path);
  if (programs.empty()) return files;
  for (const std::string& directory : places_of_twins(names, path)) {
    PAWL_TRY(const auto twins, twins_in(directory, programs));
    for (const std::string& twin : twins) add(twin);
  }
  if (files.size() <= kMaskedProgramsMax) return files;
  return cannot_mask("they are " + std::to_string(files.size()) + " files, and " +
                     std::to_string(kMaskedProgramsMax) + " can be masked");
}

}  // namespace pawl
