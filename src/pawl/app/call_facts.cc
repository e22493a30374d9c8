#include "pawl/app/call_facts.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "pawl/adapter/backend/command/command_tool.h"
#include "pawl/base/json.h"
#include "pawl/runtime/permission/reach.h"

namespace pawl {
namespace {

constexpr std::int64_t kJudgingScriptMs = 10'000;

std::string beside(const std::string& directory, const std::string& path) {
  return (std::filesystem::path(directory) / path).lexically_normal().string();
}

std::string place_of(const struct stat& info) {
  return std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino);
}

// By what it holds, so that a file that was written again the same is the same.
std::string file_fact(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return "";
  const std::string head = path + "=" + place_of(info) + ":";
  if (static_cast<std::size_t>(info.st_size) > kScriptBytesDigested) {
    return head + std::to_string(info.st_size) + ":" + std::to_string(info.st_mtim.tv_sec) + "." +
           std::to_string(info.st_mtim.tv_nsec) + ";";
  }
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  return head + to_hex(sha256(bytes)) + ";";
}

// Words of the arguments, however deep, in pieces that a shell could take for file names.
void collect_words(const Json& json, std::vector<std::string>& words) {
  if (json.is_string()) {
    std::string word;
    for (const char c : json.string() + " ") {
      const bool parts = std::string_view(" \t\r\n;|&<>()'\"`$=").find(c) != std::string_view::npos;
      if (!parts) {
        word += c;
      } else if (!word.empty()) {
        words.push_back(std::exchange(word, {}));
      }
    }
  }
  if (json.is_array()) {
    for (const Json& item : json.array()) collect_words(item, words);
  }
  if (json.is_object()) {
    for (const JsonMember& member : json.object().members()) collect_words(member.value, words);
  }
}

std::string files_named(const CallPlace& place, const ProposedCall& call) {
  std::vector<std::string> words;
  if (const auto command = place.commands.find(call.tool); command != place.commands.end()) {
    words = command->second;
  }
  if (const auto json = parse_json(call.input)) collect_words(*json, words);
  std::string facts;
  std::size_t found = 0;
  for (const std::string& word : words) {
    if (found == kScriptsDigestedMax) break;
    if (word.size() > PATH_MAX || word.find('\0') != std::string::npos) continue;
    const std::string fact = file_fact(beside(place.directory, word));
    if (fact.empty()) continue;
    facts += fact;
    ++found;
  }
  return facts;
}

}  // namespace

Result<ToolTraits> touches_of(const CallPlace& place, const ToolDescription& tool,
                              const std::string& input) {
  PAWL_TRY(const auto found, touches(tool, input));
  ToolTraits traits;
  for (const ToolTouch& touch : found) {
    const bool path =
        touch.kind == ArgumentKind::path_read || touch.kind == ArgumentKind::path_write;
    if (path) traits.paths.push_back(beside(place.directory, touch.text));
  }
  return traits;
}

Judgement shell_of(const ToolDescription& tool, const std::string& input,
                   const ShellPolicy& policy) {
  const auto found = touches(tool, input);
  if (!found) return {Verdict::deny, "shell", found.error().message};
  Judgement all;
  for (const ToolTouch& touch : *found) {
    if (touch.kind == ArgumentKind::command) {
      all = stricter(std::move(all), judge_shell(touch.text, policy));
    }
    if (touch.kind == ArgumentKind::argv) {
      all = stricter(std::move(all), judge_argv(touch.words, policy));
    }
  }
  return all;
}

Result<ToolTraits> touches_of_url(const std::string& input) {
  PAWL_TRY(const Json json, parse_json(input));
  const Json* url = json.is_object() ? json.object().find("url") : nullptr;
  if (url == nullptr || !url->is_string()) {
    return Error{ErrorCode::invalid_argument, "the call has no url"};
  }
  const auto host = host_of_url(url->string());
  if (!host) {
    return Error{ErrorCode::invalid_argument, "the url is not one that can be read without doubt"};
  }
  ToolTraits traits;
  traits.domains.push_back(*host);
  return traits;
}

std::string circumstances_of(const CallPlace& place, const ProposedCall& call) {
  struct stat info{};
  std::string facts = "directory=";
  facts += ::stat(place.directory.c_str(), &info) == 0 ? place_of(info) : "gone";
  facts += ";environment=";
  for (const auto& [name, value] : place.environment) {
    facts += std::to_string(name.size()) + ":" + name + std::to_string(value.size()) + ":" + value;
  }
  return facts + ";files=" + files_named(place, call);
}

std::shared_ptr<Tool> script_tool(const std::string& directory, const std::string& script,
                                  Loop& loop, const std::shared_ptr<CommandPool>& pool) {
  const std::string path = beside(directory, script);
  if (::access(path.c_str(), X_OK) != 0) return nullptr;
  CommandSpec spec;
  spec.tool.name = "guardrail";
  spec.tool.effect = EffectClass::pure;
  spec.tool.timeout_ms = kJudgingScriptMs;
  spec.command = {path};
  spec.working_directory = directory;
  return make_command_tool(std::move(spec), loop, pool);
}

}  // namespace pawl
