#include "pawl/tools/tool_registry.h"

#include <algorithm>

#include "pawl/json.h"

namespace pawl {
namespace {

constexpr std::size_t kFaultsShownMax = 5;

bool is_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= kToolNameBytesMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-';
         });
}

}  // namespace

Digest definition_digest(const ToolSpec& spec) {
  JsonWriter out;
  out.begin_object();
  out.field("name", spec.name);
  out.field("description", spec.description);
  out.field("input_schema", spec.input_schema);
  out.field("effect", name(spec.effect));
  out.field("on_doubt", name(spec.on_doubt));
  out.field("ends_turn", name(spec.ends_turn));
  if (spec.scope != ToolScope::charter) {
    out.field("scope", name(spec.scope)).field("owner", spec.owner);
  }
  out.end_object();
  return sha256(out.take());
}

Result<ToolRegistry> ToolRegistry::make(const std::vector<std::shared_ptr<Tool>>& tools) {
  ToolRegistry made;
  for (const std::shared_ptr<Tool>& tool : tools) {
    if (!tool) return Error{ErrorCode::invalid_argument, "one of the agent's tools is null"};
    const ToolSpec& spec = tool->spec();
    if (!is_tool_name(spec.name)) {
      return Error{
          ErrorCode::invalid_argument,
          "a tool's name has 1 to 128 letters, digits, '_' or '-', not '" + spec.name + "'"};
    }
    const auto document = parse_json(spec.input_schema);
    if (!document) {
      return Error{ErrorCode::invalid_argument,
                   "tool " + spec.name + ": input schema: " + document.error().message};
    }
    auto schema = Schema::compile(*document);
    if (!schema) {
      return Error{ErrorCode::invalid_argument,
                   "tool " + spec.name + ": input schema: " + schema.error().message};
    }
    const std::string key = definition_key(spec.name, spec.scope, spec.owner);
    const bool fresh = made.entries_.emplace(key, Entry{tool, *std::move(schema)}).second;
    if (!fresh) {
      return Error{ErrorCode::invalid_argument, "two tools are called " + spec.name};
    }
  }
  return made;
}

Tool* ToolRegistry::find(std::string_view key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : found->second.tool.get();
}

std::vector<ToolSpec> ToolRegistry::specs() const {
  std::vector<ToolSpec> specs;
  for (const auto& [key, entry] : entries_) specs.push_back(entry.tool->spec());
  return specs;
}

std::vector<PinnedTool> ToolRegistry::pinned() const {
  std::vector<PinnedTool> pinned;
  for (const auto& [key, entry] : entries_) {
    const ToolSpec& spec = entry.tool->spec();
    pinned.push_back({spec.name, spec.effect, spec.on_doubt, definition_digest(spec),
                      spec.ends_turn, spec.scope, spec.owner});
  }
  return pinned;
}

std::string ToolRegistry::fault_of(std::string_view key, std::string_view input) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return "";
  const auto value = parse_json(input);
  if (!value) return "not valid JSON: " + value.error().message;
  std::string text;
  std::size_t shown = 0;
  for (const SchemaFault& fault : found->second.schema.validate(*value)) {
    if (++shown > kFaultsShownMax) break;
    if (!text.empty()) text += "; ";
    text += (fault.instance_path.empty() ? "/" : fault.instance_path) + ": " + fault.message;
  }
  return text;
}

}  // namespace pawl
