#include "pawl/runtime/charter_models.h"

#include <algorithm>
#include <string_view>

namespace pawl {

namespace {

constexpr std::string_view kExample = "scripted/FILE.yaml";

bool is_model_name(std::string_view text) {
  const auto accepted = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return !text.empty() && text.size() <= kModelNameBytesMax &&
         std::all_of(text.begin(), text.end(), accepted);
}

bool is_target(std::string_view text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  return !text.empty() && text.size() <= kModelTargetBytesMax && text.front() != ' ' &&
         text.back() != ' ' && std::none_of(text.begin(), text.end(), is_control);
}

std::string read_target(MapReader& reader, const Member& member) {
  const Node* value = &member.value;
  const std::vector<Node>& list = value->items();
  if (list.size() > 1) {
    reader.fault(list[1].mark(), "tiers and failover are not part of this version",
                 "name one target for " + quoted(member.key));
    return {};
  }
  if (list.size() == 1) value = &list.front();
  const auto target = value->as_string();
  if (target && is_target(*target)) return std::string(*target);
  reader.fault(value->mark(),
               quoted(member.key) + " must be a target, found " + describe_kind(*value),
               "for example " + std::string(kExample));
  return {};
}

std::string names_of(const ModelTargets& targets) {
  std::string names;
  for (const auto& [name, target] : targets) names += (names.empty() ? "" : ", ") + name;
  return names;
}

std::string unchosen(MapReader& reader, const ModelTargets& targets, Mark mark) {
  if (targets.size() == 1) return targets.begin()->second;
  if (targets.empty()) {
    reader.fault(mark, "no model is named", "add models: { main: " + std::string(kExample) + " }");
  } else {
    reader.fault(mark, "several models are named and none is chosen",
                 "add model: with one of " + names_of(targets));
  }
  return {};
}

}  // namespace

ModelTargets read_models(const Node& node, std::vector<Fault>& faults) {
  ModelTargets targets;
  MapReader reader(node, faults, "models");
  if (node.members().size() > kModelsMax) {
    reader.fault(node.mark(), "there may be " + std::to_string(kModelsMax) + " models");
  }
  for (const Member& member : node.members()) {
    if (targets.size() == kModelsMax) break;
    if (!is_model_name(member.key)) {
      reader.fault(
          member.key_mark, quoted(member.key) + " is not a name of a model",
          "letters, digits, '_', '-' and '.', at most " + std::to_string(kModelNameBytesMax));
    }
    targets[member.key] = read_target(reader, member);
  }
  return targets;
}

std::string resolve_model(MapReader& reader, const ModelTargets& targets, const Node* chosen,
                          Mark mark) {
  if (chosen == nullptr) return unchosen(reader, targets, mark);
  const auto text = chosen->as_string();
  if (!text) {
    reader.fault(chosen->mark(), "\"model\" must be a string, found " + describe_kind(*chosen));
    return {};
  }
  if (const auto entry = targets.find(std::string(*text)); entry != targets.end()) {
    return entry->second;
  }
  if (is_target(*text) && text->find('/') != std::string_view::npos) return std::string(*text);
  std::string remedy = "name a target such as " + std::string(kExample);
  if (!targets.empty()) remedy += ", or one of " + names_of(targets);
  reader.fault(chosen->mark(), "there is no model " + quoted(*text), std::move(remedy));
  return {};
}

}  // namespace pawl
