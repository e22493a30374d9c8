// Conditions as they are written in documents.
#include <algorithm>
#include <array>

#include "pawl/gate/rules/call_pattern.h"

namespace pawl {
namespace {

constexpr std::array<ConditionKind, 6> kKinds = {ConditionKind::glob,    ConditionKind::regex,
                                                 ConditionKind::beneath, ConditionKind::host,
                                                 ConditionKind::scheme,  ConditionKind::runs};

constexpr const char* kRemedy =
    "write glob, regex, beneath, host, scheme or runs with a string or a list; not_ before it "
    "turns it round";

bool read_values(const Node& node, std::vector<std::string>& out) {
  if (const auto text = node.as_string()) {
    out.emplace_back(*text);
    return true;
  }
  if (node.kind() != Node::Kind::list) return false;
  for (const Node& item : node.items()) {
    const auto text = item.as_string();
    if (!text) return false;
    out.emplace_back(*text);
  }
  return true;
}

bool read_word(std::string_view word, ArgumentCondition& out) {
  out.sense = word.starts_with("not_") ? Sense::is_not : Sense::is;
  if (out.sense == Sense::is_not) word.remove_prefix(4);
  for (const ConditionKind kind : kKinds) {
    if (name(kind) != word) continue;
    out.kind = kind;
    // What a text surely does not run cannot be known.
    return kind != ConditionKind::runs || out.sense == Sense::is;
  }
  return false;
}

}  // namespace

std::vector<ArgumentCondition> read_conditions(const Node& node, std::vector<Fault>& faults,
                                               const std::string& where) {
  std::vector<ArgumentCondition> conditions;
  const auto fault = [&](const Mark& mark, const std::string& what) {
    add_fault(faults, {mark, where + ": " + what, kRemedy});
  };
  if (node.kind() != Node::Kind::map) {
    fault(node.mark(), "must be a map of arguments, found " + describe_kind(node));
    return conditions;
  }
  for (const Member& member : node.members()) {
    if (const auto text = member.value.as_string()) {
      conditions.push_back({member.key, ConditionKind::glob, Sense::is, {std::string(*text)}});
      continue;
    }
    if (member.value.members().empty()) {
      fault(member.value.mark(), quoted(member.key) + " needs a condition");
    }
    for (const Member& test : member.value.members()) {
      ArgumentCondition condition{member.key};
      if (!read_word(test.key, condition)) {
        fault(test.key_mark, quoted(member.key) + " has no condition " + quoted(test.key));
      } else if (!read_values(test.value, condition.values)) {
        fault(test.value.mark(), quoted(member.key) + "." + test.key +
                                     " must be a string or a list of strings, found " +
                                     describe_kind(test.value));
      } else {
        conditions.push_back(std::move(condition));
      }
    }
  }
  return conditions;
}

namespace {

void write_condition(JsonWriter& out, const ArgumentCondition& condition) {
  const std::string word(name(condition.kind));
  out.key(condition.sense == Sense::is ? word : "not_" + word).begin_array();
  for (const std::string& value : condition.values) out.string(value);
  out.end_array();
}

}  // namespace

void write_conditions(JsonWriter& out, const std::vector<ArgumentCondition>& conditions) {
  out.begin_object();
  std::vector<std::string> written;
  for (const ArgumentCondition& first : conditions) {
    if (std::find(written.begin(), written.end(), first.argument) != written.end()) continue;
    written.push_back(first.argument);
    out.key(first.argument).begin_object();
    for (const ArgumentCondition& condition : conditions) {
      if (condition.argument == first.argument) write_condition(out, condition);
    }
    out.end_object();
  }
  out.end_object();
}

}  // namespace pawl
