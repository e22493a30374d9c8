#include "pawl/kernel/flow_values.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "pawl/base/decimal.h"
#include "pawl/base/schema_uri.h"
#include "pawl/kernel/flow_facts.h"
#include "pawl/kernel/phase_template.h"

namespace pawl {
namespace {

// Variables and inputs are text: true, 5 and "true", "5" are the same there.
bool is_equal(const Json& found, const Json& wanted, std::string_view pointer) {
  if (equal_values(found, wanted)) return true;
  const std::string* text = found.if_string();
  const bool from_outside = pointer.starts_with("/vars/") || pointer == "/input";
  return from_outside && text != nullptr && *text == write_json(wanted);
}

// What the kernel has written is JSON; what was not there is null.
Json parsed(std::string_view json) {
  auto value = parse_json(json);
  return value ? *std::move(value) : Json();
}

const Json* member(const Json& value, const std::string& step) {
  if (value.is_object()) return value.find(step);
  const JsonArray* list = value.if_array();
  if (list == nullptr || step.empty() || (step.size() > 1 && step.front() == '0')) return nullptr;
  std::size_t index = 0;
  const auto read = std::from_chars(step.data(), step.data() + step.size(), index);
  const bool whole = read.ec == std::errc() && read.ptr == step.data() + step.size();
  return whole && index < list->size() ? &(*list)[index] : nullptr;
}

Json at_steps(const Json& from, const std::vector<std::string>& steps, std::size_t first) {
  const Json* at = &from;
  for (std::size_t i = first; i < steps.size() && at != nullptr; ++i) at = member(*at, steps[i]);
  return at == nullptr ? Json() : *at;
}

Json input_value(const FlowState& flow) {
  auto value = parse_json(flow.input);
  const bool structured = value && (value->is_object() || value->is_array());
  return structured ? *std::move(value) : Json(flow.input);
}

Json variable_values(const FlowState& flow) {
  JsonObject values;
  for (const Variable& one : flow.variables) values.set(one.key, Json(one.value));
  return values;
}

Json phase_value(const FlowState& flow, std::uint32_t phase) {
  JsonObject value;
  value.set("status", Json(name(flow.runs[phase].status)));
  value.set("output", parsed(output_json(flow, phase)));
  return value;
}

Json phase_values(const FlowState& flow) {
  JsonObject values;
  for (std::uint32_t i = 0; i < flow.specs.size(); ++i) {
    values.set(flow.specs[i].name, phase_value(flow, i));
  }
  return values;
}

std::string by_name(const FlowState& flow, const std::vector<std::uint32_t>& phases) {
  std::string json = "{";
  for (const std::uint32_t phase : phases) {
    if (json.size() > 1) json += ',';
    append_json_string(json, flow.specs[phase].name);
    json.append(":").append(output_json(flow, phase));
  }
  return json + "}";
}

std::vector<std::uint32_t> phases_before(const FlowState& flow, std::uint32_t phase) {
  std::vector<std::uint32_t> before;
  for (const std::string& one : flow.specs[phase].after) {
    if (const auto place = place_of(flow, one)) before.push_back(*place);
  }
  return before;
}

std::string variable_text(const FlowState& flow, const std::string& name) {
  for (const Variable& one : flow.variables) {
    if (one.key == name) return one.value;
  }
  return "";
}

std::string value_for(const FlowState& flow, const TemplateUse& use,
                      const std::optional<std::string>& item) {
  switch (use.kind) {
    case TemplateUse::Kind::input:
      return flow.input;
    case TemplateUse::Kind::variable:
      return variable_text(flow, use.name);
    case TemplateUse::Kind::item:
      return item ? inserted(parsed(*item)) : "";
    case TemplateUse::Kind::output: {
      const auto place = place_of(flow, use.name);
      return place ? inserted(value_at(parsed(output_json(flow, *place)), use.pointer)) : "";
    }
    case TemplateUse::Kind::wrong:
      break;
  }
  return "";
}

std::string usual_prompt(const FlowState& flow, std::uint32_t phase) {
  const std::vector<std::uint32_t> before = phases_before(flow, phase);
  if (before.empty()) return flow.input;
  std::string text;
  for (const std::uint32_t one : before) {
    const std::string output = inserted(parsed(output_json(flow, one)));
    if (before.size() == 1) return output;
    text += (text.empty() ? "" : "\n\n") + flow.specs[one].name + ":\n" + output;
  }
  return text;
}

}  // namespace

Json value_at(const Json& value, std::string_view pointer) {
  return at_steps(value, schema::pointer_tokens(pointer), 0);
}

Json flow_value_at(const FlowState& flow, std::string_view pointer) {
  const std::vector<std::string> steps = schema::pointer_tokens(pointer);
  const std::string first = steps.empty() ? "" : steps.front();
  if (first == "input") return at_steps(input_value(flow), steps, 1);
  if (first == "vars") return at_steps(variable_values(flow), steps, 1);
  if (first == "phases" && steps.size() > 1) {
    const auto place = place_of(flow, steps[1]);
    return place ? at_steps(phase_value(flow, *place), steps, 2) : Json();
  }
  JsonObject all;
  all.set("input", input_value(flow));
  all.set("vars", variable_values(flow));
  all.set("phases", phase_values(flow));
  return at_steps(Json(std::move(all)), steps, 0);
}

std::string output_json(const FlowState& flow, std::uint32_t phase) {
  const PhaseRun& run = flow.runs[phase];
  if (!run.map || run.status != PhaseStatus::done) return run.output.empty() ? "null" : run.output;
  std::string json = "[";
  for (const std::string& one : run.map->outputs) {
    if (json.size() > 1) json += ',';
    json += one.empty() ? "null" : one;
  }
  return json + "]";
}

std::string output_before(const FlowState& flow, std::uint32_t phase) {
  const std::vector<std::uint32_t> before = phases_before(flow, phase);
  if (before.empty()) return write_json(input_value(flow));
  return before.size() == 1 ? output_json(flow, before.front()) : by_name(flow, before);
}

std::string output_of_flow(const FlowState& flow) {
  std::vector<bool> followed(flow.specs.size(), false);
  for (std::uint32_t i = 0; i < flow.specs.size(); ++i) {
    for (const std::uint32_t before : phases_before(flow, i)) followed[before] = true;
  }
  std::vector<std::uint32_t> last;
  for (std::uint32_t i = 0; i < flow.specs.size(); ++i) {
    if (!followed[i]) last.push_back(i);
  }
  return last.size() == 1 ? output_json(flow, last.front()) : by_name(flow, last);
}

std::string inserted(const Json& value) {
  if (const std::string* text = value.if_string()) return *text;
  return value.is_null() ? "" : write_json(value);
}

bool is_wanted(const FlowState& flow, const PhaseSpec& spec) {
  return std::all_of(spec.when.begin(), spec.when.end(), [&flow](const WhenSpec& one) {
    return is_equal(flow_value_at(flow, one.pointer), parsed(one.value), one.pointer);
  });
}

Result<std::string> prompt_of(const FlowState& flow, std::uint32_t phase,
                              const std::optional<std::string>& item) {
  const PhaseSpec& spec = flow.specs[phase];
  if (!spec.prompt.empty()) {
    return fill_template(spec.prompt, kFlowPromptBytesMax,
                         [&](const TemplateUse& use) { return value_for(flow, use, item); });
  }
  std::string text = item ? inserted(parsed(*item)) : usual_prompt(flow, phase);
  if (text.size() <= kFlowPromptBytesMax) return text;
  return Error{ErrorCode::limit_exceeded, "what it comes after has more than " +
                                              std::to_string(kFlowPromptBytesMax) +
                                              " bytes, and it has no prompt that takes a part"};
}

std::string checkpoint_shown(const FlowState& flow, std::uint32_t phase) {
  std::string json = R"({"question":)";
  append_json_string(json, flow.specs[phase].checkpoint);
  return json.append(R"(,"outputs":)").append(by_name(flow, phases_before(flow, phase))) + "}";
}

Result<MapRun> map_over(const FlowState& flow, const MapSpec& spec) {
  const Json over = flow_value_at(flow, spec.over);
  const JsonArray* list = over.if_array();
  if (list == nullptr) {
    return Error{ErrorCode::invalid_argument, spec.over + " is " + std::string(name(over.kind())) +
                                                  ", and a map is over a list"};
  }
  if (list->size() > kMapItemsMax) {
    return Error{ErrorCode::limit_exceeded, spec.over + " has " + std::to_string(list->size()) +
                                                " items; a map has at most " +
                                                std::to_string(kMapItemsMax)};
  }
  MapRun map;
  map.lanes.emplace_back();
  std::map<std::string, std::uint32_t> lanes;
  for (const Json& item : *list) {
    const Json key = spec.per_key.empty() ? Json() : value_at(item, spec.per_key);
    std::uint32_t lane = 0;
    if (!key.is_null()) {
      const auto next = static_cast<std::uint32_t>(map.lanes.size());
      lane = lanes.emplace(write_json(key), next).first->second;
      if (lane == next) map.lanes.emplace_back();
    }
    map.lanes[lane].items.push_back(static_cast<std::uint32_t>(map.items.size()));
    map.lane_of.push_back(lane);
    map.items.push_back(write_json(item));
  }
  map.outputs.resize(map.items.size());
  return map;
}

}  // namespace pawl
