#include "pawl/charter/host/host_programs.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>

#include "pawl/base/path_text.h"

namespace pawl {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 10> kInterpreters = {
    "sh", "bash", "dash", "zsh", "env", "python", "perl", "ruby", "node", "php"};

// python3.11 is python.
bool is_interpreter(std::string_view program) {
  program.remove_prefix(program.rfind('/') + 1);  // of npos, too
  const std::size_t number = program.find_first_of("0123456789.");
  const std::string_view name = program.substr(0, number);
  return std::ranges::find(kInterpreters, name) != kInterpreters.end();
}

// An interpreter's own options are passed over, and it is not known which of them take the next
// word: its program is the first word that is a file.
void add_words(const std::vector<std::string>& words, const fs::path& directory,
               std::vector<std::string>& programs) {
  const auto add = [&](const std::string& word) {
    programs.push_back((directory / word).lexically_normal().string());
  };
  if (words.empty()) return;
  if (words.front().find('/') != std::string::npos) add(words.front());
  if (!is_interpreter(words.front())) return;
  std::error_code none;
  const auto is_file = [&](const std::string& word) {
    return fs::is_regular_file(directory / word, none);
  };
  const auto program = std::find_if(words.begin() + 1, words.end(), is_file);
  if (program != words.end()) add(*program);
}

// They are run where the host was started, and again every few minutes.
void add_secrets(const Charter& charter, std::vector<std::string>& programs) {
  std::error_code none;
  const fs::path here = fs::current_path(none);
  const auto add = [&](const SecretReference* secret) {
    if (secret != nullptr) add_words(secret->arguments, here, programs);
  };
  for (const ProviderDeclaration& provider : charter.providers) {
    if (provider.key) add(std::get_if<SecretReference>(&*provider.key));
    for (const DeclaredHeader& header : provider.headers) {
      add(std::get_if<SecretReference>(&header.value));
    }
  }
}

void add_place(const std::string& path, ExecutionContext& context) {
  const auto beneath = [&](const std::string& root) { return is_beneath(path, root); };
  if (std::ranges::none_of(context.write_roots, beneath)) return;
  auto& places = context.protected_places;
  if (std::ranges::find(places, path) == places.end()) places.push_back(path);
}

}  // namespace

std::vector<std::string> host_programs(const Charter& charter, const std::vector<ToolRule>& rules) {
  std::vector<std::string> programs;
  const fs::path directory(charter.directory);
  const bool confined = charter.sandbox.declared == SandboxDeclaration::Declared::yes;
  for (const CommandDeclaration& declared : charter.commands) {
    if (confined && declared.where == CommandDeclaration::Where::sandbox) continue;
    add_words(declared.command, directory, programs);
    add_words(declared.status, directory, programs);
  }
  for (const ToolRule& rule : rules) {
    if (!rule.script.empty())
      programs.push_back((directory / rule.script).lexically_normal().string());
  }
  add_secrets(charter, programs);
  return programs;
}

std::vector<std::string> command_files(const std::vector<std::string>& words,
                                       const std::string& directory) {
  std::vector<std::string> files;
  add_words(words, directory, files);
  return files;
}

// As it is written and where it leads: whoever can replace a link on the way needs not write the
// file.
void protect_programs(const std::vector<std::string>& programs, ExecutionContext& context) {
  for (const std::string& program : programs) {
    add_place(program, context);
    std::error_code none;
    const fs::path real = fs::canonical(program, none);
    if (!none) add_place(real.string(), context);
  }
}

Status keep_data(const std::string& data, ExecutionContext& context, std::string_view what) {
  if (data.empty()) return ok();
  const auto real = [](const std::string& path) {
    std::error_code none;
    const std::string text = fs::weakly_canonical(path, none).string();
    return none ? path : text;
  };
  const std::string place = real(data);
  for (const std::string& root : context.write_roots) {
    if (is_within(real(root), place)) {
      return Error{ErrorCode::invalid_argument,
                   "the write root " + root + " lies in the " + std::string(what) + " " + data +
                       ", which no tool may write (name another root, or another directory with "
                       "--data or PAWL_DATA)"};
    }
  }
  std::error_code none;
  if (!fs::exists(place, none)) return ok();
  for (const auto* roots : {&context.write_roots, &context.read_roots}) {
    for (const std::string& root : *roots) {
      const std::string outer = real(root);
      if (!is_beneath(place, outer)) continue;
      const std::string rest = place.substr(outer == "/" ? 1 : outer.size() + 1);
      std::string kept = (fs::path(root) / rest).string();
      if (std::ranges::find(context.deny_roots, kept) == context.deny_roots.end()) {
        context.deny_roots.push_back(std::move(kept));
      }
    }
  }
  return ok();
}

}  // namespace pawl
