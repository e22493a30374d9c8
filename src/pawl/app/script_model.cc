#include "pawl/app/script_model.h"

#include "pawl/adapter/yaml/yaml.h"
#include "pawl/base/files.h"
#include "pawl/testing/executor_scripted/executor_scripted.h"
#include "pawl/testing/executor_scripted/script_reader.h"

namespace pawl {
namespace {

constexpr std::string_view kMark = "replies";

std::vector<std::string> told_of(const std::vector<Fault>& faults, const std::string& path) {
  std::vector<std::string> told;
  for (const Fault& fault : faults) told.push_back(to_string(fault, path));
  return told;
}

bool looks_like_a_script(const DocumentResult& document, const std::string& text) {
  if (document.root) return document.root->find(kMark) != nullptr;
  return text.find(kMark) != std::string::npos;
}

// What answers when no provider is configured: an agent that says so.
Script default_script() {
  Script script;
  script.replies = {ScriptReply::say(
      "This is the script inside pawl, and no model: no provider is configured. Set "
      "ANTHROPIC_API_KEY, OPENAI_API_KEY or another provider's key, or name a model in the "
      "charter; "
      "pawl models lists them.")};
  script.after_last = Script::AfterLast::repeats_last;
  return script;
}

}  // namespace

Result<std::string> read_script_file(const std::string& directory, const std::string& name) {
  return read_file_beneath(directory, name, kScriptBytesMax);
}

ScriptText read_script_text(const std::string& text, const std::string& path) {
  YamlLimits limits;
  limits.bytes_max = kScriptBytesMax;
  const DocumentResult document = parse_yaml(text, limits);
  if (!looks_like_a_script(document, text)) {
    return {std::nullopt,
            {path + ": not the script of a model (write a map with the key \"replies\")"}};
  }
  if (!document.root) return {std::nullopt, told_of(document.faults, path)};
  ScriptReading reading = read_script(*document.root, path);
  std::vector<std::string> faults = told_of(document.faults, path);
  for (std::string& fault : told_of(reading.faults, path)) faults.push_back(std::move(fault));
  if (!faults.empty()) reading.script.reset();
  return {std::move(reading.script), std::move(faults)};
}

ScriptModels script_models(Loop& loop) {
  ScriptModels models;
  models.fallback = [&loop] { return make_scripted_executor(default_script(), loop); };
  models.read = read_script_file;
  models.load = [&loop](const std::string& text, const std::string& path) {
    ScriptText script = read_script_text(text, path);
    ScriptModels::Loaded loaded{nullptr, std::move(script.faults)};
    if (script.script) loaded.executor = make_scripted_executor(*std::move(script.script), loop);
    return loaded;
  };
  return models;
}

}  // namespace pawl
