#include "pawl/app/script_model.h"

#include "pawl/adapter/executor_scripted/script_reader.h"
#include "pawl/adapter/yaml/yaml.h"
#include "pawl/app/files.h"

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

}  // namespace pawl
