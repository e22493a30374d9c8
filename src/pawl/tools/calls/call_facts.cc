#include "pawl/tools/calls/call_facts.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <random>
#include <unordered_set>

#include "pawl/base/files.h"
#include "pawl/base/patch_reader.h"
#include "pawl/gate/rules/reach.h"
#include "pawl/gate/rules/verdict.h"
#include "pawl/gate/shell/shell_rules.h"
#include "pawl/json.h"
#include "pawl/tools/calls/call_words.h"

namespace pawl {
namespace {

std::string beside(const std::string& directory, const std::string& path) {
  return (std::filesystem::path(directory) / path).lexically_normal().string();
}

std::string place_of(const FileFacts& info) {
  return std::to_string(info.device) + ":" + std::to_string(info.inode);
}

enum class Known : std::uint8_t { by_content, by_times };

std::string times_of(const FileFacts& info) {
  const auto text = [](const FileFacts::Time& at) {
    return std::to_string(at.seconds) + "." + std::to_string(at.nanoseconds);
  };
  return std::to_string(info.bytes) + ":" + text(info.written) + ":" + text(info.changed) + ";";
}

// By what it holds, so that a file that was written again the same is the same.
std::string file_fact(const std::string& path, const FileFacts& info, Known known) {
  const std::string head = path + "=" + place_of(info) + ":";
  const bool long_one = info.bytes > kScriptBytesDigested;
  if (long_one || known == Known::by_times) return head + times_of(info);
  const auto bytes = read_regular_file(path, kScriptBytesDigested);
  return head + (bytes ? to_hex(sha256(*bytes)) + ";" : times_of(info));
}

// What the words of a call name: a command may go to a directory first, and from there to the next.
class NamedFiles {
 public:
  NamedFiles(const CallWords& words, std::size_t places_max)
      : words_(words), places_max_(places_max), complete_(!words.too_many()) {}

  std::string facts_from(const std::string& directory) {
    places_ = {directory};
    if (const auto info = look_at_file(directory)) known_.insert(place_of(*info));
    for (std::size_t i = 0; i < places_.size(); ++i) {
      for (const std::string& word : words_.all()) {
        if (i > 0 && word.front() == '/') continue;
        const std::string path = word.front() == '/' ? word : places_[i] + "/" + word;
        look_at(path);
        // Behind a link, ".." is not the same for the kernel and for "cd".
        if (path.find("..") != std::string::npos) look_at(beside("/", path));
      }
    }
    std::string text;
    for (const auto& [path, fact] : facts_) text += fact;
    return complete_ ? text : text + never_the_same();
  }

 private:
  void look_at(const std::string& path) {
    if (++looks_ > kLooksMax) {
      complete_ = false;
      return;
    }
    const auto info = look_at_file(path);
    if (!info) return;
    if (info->kind == FileFacts::Kind::directory) {
      add_place(path, *info);
    } else if (info->kind == FileFacts::Kind::regular && !facts_.contains(path)) {
      const Known known = facts_.size() < kScriptsDigestedMax ? Known::by_content : Known::by_times;
      facts_[path] = file_fact(path, *info, known);
    }
  }

  // By what it is: it has many names, such as "./." and "sub/..".
  void add_place(const std::string& path, const FileFacts& info) {
    if (places_max_ == 1 || !known_.insert(place_of(info)).second) return;
    if (places_.size() == places_max_) {
      complete_ = false;
    } else {
      places_.push_back(path);
    }
  }

  // What was not looked at may change: no two looks at such a call are the same.
  static std::string never_the_same() {
    static std::atomic<std::uint64_t> looks = 0;
    static const std::uint32_t process = std::random_device()();
    return "not all, look " + std::to_string(++looks) + " of process " + std::to_string(process) +
           " at " + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count());
  }

  const CallWords& words_;
  std::size_t places_max_;
  bool complete_;
  std::size_t looks_ = 0;
  std::vector<std::string> places_;
  std::unordered_set<std::string> known_;
  std::map<std::string, std::string> facts_;
};

// Of Pawl's own tools those that only read and write files go nowhere.
bool goes_elsewhere(const CallPlace& place, const ProposedCall& call) {
  const auto own = describe_common_tool(call.tool);
  return place.commands.contains(call.key()) || !own || own->needs.subprocess;
}

std::string files_named(const CallPlace& place, const ProposedCall& call) {
  CallWords words;
  if (const auto command = place.commands.find(call.key()); command != place.commands.end()) {
    for (const std::string& word : command->second) words.add(word);
  }
  if (const auto json = parse_json(call.input)) words.add_all(*json);
  const std::size_t places = goes_elsewhere(place, call) ? kWordDirectoriesMax : 1;
  return NamedFiles(words, places).facts_from(place.directory_of(call.key()));
}

void add_environment(const std::map<std::string, std::string>& environment, std::string& facts) {
  for (const auto& [name, value] : environment) {
    facts += std::to_string(name.size()) + ":" + name + std::to_string(value.size()) + ":" + value;
  }
}

Status append_patch(std::vector<ToolTouch>& found, const Json& text) {
  if (!text.is_string()) return Error{ErrorCode::invalid_argument, "patch: not a string"};
  PAWL_TRY(const auto files, read_patch(text.string()));
  for (const FilePatch& file : files) {
    found.push_back({ArgumentKind::path_write, file.path, {}});
    if (file.move_to) found.push_back({ArgumentKind::path_write, *file.move_to, {}});
  }
  return ok();
}

Result<ToolTouch> touch_of(const ToolArgument& argument, const Json& value) {
  ToolTouch touch{argument.kind, {}, {}};
  if (argument.kind == ArgumentKind::argv) {
    if (!value.is_array()) return Error{ErrorCode::invalid_argument, argument.name + ": no list"};
    for (const Json& word : value.array()) {
      if (!word.is_string()) {
        return Error{ErrorCode::invalid_argument, argument.name + ": not a list of strings"};
      }
      touch.words.push_back(word.string());
    }
    return touch;
  }
  if (!value.is_string()) {
    return Error{ErrorCode::invalid_argument, argument.name + ": not a string"};
  }
  touch.text = value.string();
  return touch;
}

}  // namespace

Result<std::vector<ToolTouch>> touches(const ToolDescription& tool, std::string_view input) {
  PAWL_TRY(const Json parsed, parse_json(input));
  if (!parsed.is_object()) return Error{ErrorCode::invalid_argument, "the input is no object"};
  std::vector<ToolTouch> found;
  for (const ToolArgument& argument : tool.arguments) {
    const Json* const value = parsed.find(argument.name);
    if (value == nullptr) {
      // Only grep and glob may leave it out, and then look at the working directory.
      if (argument.kind != ArgumentKind::path_read) {
        return Error{ErrorCode::invalid_argument, argument.name + ": missing"};
      }
      found.push_back({argument.kind, ".", {}});
    } else if (argument.kind == ArgumentKind::patch) {
      PAWL_CHECK(append_patch(found, *value));
    } else {
      PAWL_TRY(ToolTouch touch, touch_of(argument, *value));
      found.push_back(std::move(touch));
    }
  }
  return found;
}

std::function<Result<ToolTraits>(const std::string& input)> touches_of(CallPlace place,
                                                                       ToolDescription tool) {
  return [place = std::move(place),
          tool = std::move(tool)](const std::string& input) -> Result<ToolTraits> {
    PAWL_TRY(const auto found, touches(tool, input));
    ToolTraits traits;
    if (tool.needs.subprocess) traits.paths = place.roots;
    for (const ToolTouch& touch : found) {
      const bool path =
          touch.kind == ArgumentKind::path_read || touch.kind == ArgumentKind::path_write;
      if (path) traits.paths.push_back(beside(place.directory, touch.text));
    }
    return traits;
  };
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

Judgement with_plain_git(Judgement judgement, std::string_view input,
                         const GitObjection& objection) {
  // An escape may hide a letter.
  const bool about_git =
      input.find("git") != std::string_view::npos || input.find('\\') != std::string_view::npos;
  if (judgement.verdict != Verdict::allow || !about_git) return judgement;
  const auto why = objection();
  if (!why) return judgement;
  return {Verdict::ask, "shell.git", "git may start programs here: " + *why};
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
  std::string facts = "directory=";
  const std::string& directory = place.directory_of(call.key());
  const auto there = look_at_file(directory);
  facts += there ? place_of(*there) : "gone";
  facts += ";environment=";
  add_environment(place.environment, facts);
  if (place.on_host.contains(call.tool)) add_environment(place.host_environment, facts);
  facts += ";scripts=";
  for (const std::string& script : place.scripts) {
    const auto info = look_at_file(script);
    const bool is_file = info && info->kind == FileFacts::Kind::regular;
    if (is_file) facts += file_fact(script, *info, Known::by_content);
  }
  return facts + ";files=" + files_named(place, call);
}

}  // namespace pawl
