#include "pawl/app/call_facts.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <unordered_set>

#include "pawl/adapter/backend/command/command_tool.h"
#include "pawl/app/files.h"
#include "pawl/base/json.h"
#include "pawl/runtime/permission/reach.h"
#include "pawl/runtime/permission/shell_commands.h"

namespace pawl {
namespace {

constexpr std::int64_t kJudgingScriptMs = 10'000;

std::string beside(const std::string& directory, const std::string& path) {
  return (std::filesystem::path(directory) / path).lexically_normal().string();
}

std::string place_of(const struct stat& info) {
  return std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino);
}

enum class Known : std::uint8_t { by_content, by_times };

std::string times_of(const struct stat& info) {
  const auto text = [](const timespec& at) {
    return std::to_string(at.tv_sec) + "." + std::to_string(at.tv_nsec);
  };
  return std::to_string(info.st_size) + ":" + text(info.st_mtim) + ":" + text(info.st_ctim) + ";";
}

// By what it holds, so that a file that was written again the same is the same.
std::string file_fact(const std::string& path, const struct stat& info, Known known) {
  const std::string head = path + "=" + place_of(info) + ":";
  const bool long_one = static_cast<std::size_t>(info.st_size) > kScriptBytesDigested;
  if (long_one || known == Known::by_times) return head + times_of(info);
  const auto bytes = read_regular_file(path, kScriptBytesDigested);
  return head + (bytes ? to_hex(sha256(*bytes)) + ";" : times_of(info));
}

// Words in the order in which they stand, each once.
class Words {
 public:
  void add(std::string word) {
    if (word.empty() || word.size() > PATH_MAX || word.find('\0') != std::string::npos) return;
    if (seen_.size() == kWordsLookedUpMax) {
      too_many_ = true;
    } else if (seen_.insert(word).second) {
      words_.push_back(std::move(word));
    }
  }
  const std::vector<std::string>& all() const { return words_; }
  bool too_many() const { return too_many_; }

 private:
  std::vector<std::string> words_;
  std::unordered_set<std::string> seen_;
  bool too_many_ = false;
};

// In pieces that a shell could take for file names, and as the shell itself reads them: bu"il"d.sh
// is build.sh to it.
void add_words(const std::string& text, Words& words) {
  std::string word;
  for (const char c : text + " ") {
    const bool parts = std::string_view(" \t\r\n;|&<>()'\"`$=").find(c) != std::string_view::npos;
    if (!parts) {
      word += c;
    } else {
      words.add(std::exchange(word, {}));
    }
  }
  if (text.find_first_of("'\"\\") == std::string::npos) return;
  for (const auto& command : commands_in_text(text).commands) {
    for (const std::string& one : command) words.add(one);
  }
}

void collect_words(const Json& json, Words& words) {
  if (json.is_string()) add_words(json.string(), words);
  if (json.is_array()) {
    for (const Json& item : json.array()) collect_words(item, words);
  }
  if (json.is_object()) {
    for (const JsonMember& member : json.object().members()) collect_words(member.value, words);
  }
}

// The place itself, and the directories that are named: a command may go there first.
std::vector<std::string> places_named(const std::string& directory, const Words& words) {
  std::vector<std::string> places = {directory};
  for (const std::string& word : words.all()) {
    struct stat info{};
    const std::string path = beside(directory, word);
    if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) places.push_back(path);
    if (places.size() == kWordDirectoriesMax) break;
  }
  return places;
}

std::string files_named(const CallPlace& place, const ProposedCall& call) {
  Words words;
  if (const auto command = place.commands.find(call.tool); command != place.commands.end()) {
    for (const std::string& word : command->second) words.add(word);
  }
  if (const auto json = parse_json(call.input)) collect_words(*json, words);
  std::map<std::string, std::string> facts;
  for (const std::string& directory : places_named(place.directory_of(call.tool), words)) {
    for (const std::string& word : words.all()) {
      struct stat info{};
      const std::string path = beside(directory, word);
      if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
      const Known known = facts.size() < kScriptsDigestedMax ? Known::by_content : Known::by_times;
      if (!facts.contains(path)) facts[path] = file_fact(path, info, known);
    }
  }
  std::string text;
  for (const auto& [path, fact] : facts) text += fact;
  if (words.too_many()) {
    // What was not looked at may change: no two looks at such a call are the same.
    static std::atomic<std::uint64_t> looks = 0;
    text += "not all, look " + std::to_string(++looks) + " of process " + std::to_string(getpid()) +
            " at " + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count());
  }
  return text;
}

void add_environment(const std::map<std::string, std::string>& environment, std::string& facts) {
  for (const auto& [name, value] : environment) {
    facts += std::to_string(name.size()) + ":" + name + std::to_string(value.size()) + ":" + value;
  }
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
  const std::string& directory = place.directory_of(call.tool);
  facts += ::stat(directory.c_str(), &info) == 0 ? place_of(info) : "gone";
  facts += ";environment=";
  add_environment(place.environment, facts);
  if (place.on_host.contains(call.tool)) add_environment(inherited_environment(), facts);
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
