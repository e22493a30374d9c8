#include "pawl/charter/host/command_check.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include "pawl/base/files.h"
#include "pawl/base/program_path.h"

namespace pawl {
namespace {

enum class Found : std::uint8_t { program, not_executable, nothing };

Found look(const std::string& path) {
  const auto info = look_at_file(path);
  if (!info) return Found::nothing;
  const bool runs = info->kind == FileFacts::Kind::regular && can_be_executed(path);
  return runs ? Found::program : Found::not_executable;
}

// A name without a slash is looked for in the PATH that command tools have.
bool is_on_path(const std::string& name) {
  return std::ranges::any_of(program_candidates(name, kCommandPath),
                             [](const std::string& path) { return look(path) == Found::program; });
}

std::optional<Fault> note_on(const std::string& word, const std::string& directory) {
  if (word.find('/') == std::string::npos) {
    if (is_on_path(word)) return std::nullopt;
    return Fault{{},
                 word + " is not there: it is on none of the directories of PATH=" +
                     std::string(kCommandPath),
                 "install it, or give its path, which starts at the charter's directory"};
  }
  const std::string path = (std::filesystem::path(directory) / word).lexically_normal().string();
  switch (look(path)) {
    case Found::program:
      break;
    case Found::not_executable:
      return Fault{{}, word + " cannot be executed", "make it an executable file: chmod +x"};
    case Found::nothing:
      return Fault{{}, word + " is not there", "paths start at the charter's directory"};
  }
  return std::nullopt;
}

const Node* definitions_of(const Node& document, const CommandDeclaration& tool) {
  if (tool.scope == ToolScope::charter) return document.find("tools");
  const Node* section = document.find(tool.scope == ToolScope::node ? "nodes" : "packs");
  return section == nullptr ? nullptr : section->find(tool.owner);
}

Mark place_of(const Node& document, const CommandDeclaration& tool, std::string_view key) {
  const Node* node = definitions_of(document, tool);
  for (const std::string_view step :
       {std::string_view("define"), std::string_view(tool.spec.name), key}) {
    if (node != nullptr) node = node->find(step);
  }
  return node == nullptr ? Mark{} : node->mark();
}

}  // namespace

std::vector<Fault> missing_commands(const Charter& charter, const Node& document) {
  std::vector<Fault> notes;
  const bool confined = charter.sandbox.declared == SandboxDeclaration::Declared::yes;
  for (const CommandDeclaration& declared : charter.commands) {
    if (confined && declared.where == CommandDeclaration::Where::sandbox) continue;
    const auto check = [&](const std::vector<std::string>& words, std::string_view key) {
      if (words.empty()) return;
      if (auto note = note_on(words.front(), charter.directory)) {
        note->mark = place_of(document, declared, key);
        note->message = "the command of the tool " + declared.spec.name + ": " + note->message;
        notes.push_back(*std::move(note));
      }
    };
    check(declared.command, "command");
    check(declared.status, "status");
  }
  return notes;
}

std::vector<Fault> unheld_repositories(const Charter& charter, const Node& document) {
  const SandboxDeclaration& sandbox = charter.sandbox;
  // Without that word `landlock` refuses what it cannot hold.
  const bool accepted = sandbox.backend == "landlock" &&
                        sandbox.protection == ExecutionContext::Protection::if_possible;
  if (!accepted && sandbox.backend != "local") return {};
  const Node* node = document.find("sandbox");
  if (node != nullptr && node->find("level") != nullptr) node = node->find("level");
  std::vector<Fault> notes;
  for (const std::string& root : sandbox.write) {
    std::error_code none;
    if (!std::filesystem::exists(std::filesystem::path(charter.directory) / root / ".git", none)) {
      continue;
    }
    notes.push_back({node == nullptr ? Mark{} : node->mark(),
                     "at the level " + sandbox.backend +
                         " commands may write the hooks and the "
                         "configuration of the git repository in the write root " +
                         root,
                     "use the level namespace, or a write root without a repository"});
  }
  return notes;
}

}  // namespace pawl
