// The keywords that look into arrays and objects, and those that apply other schemas.
#include <algorithm>

#include "pawl/base/schema_validation.h"

namespace pawl::schema {
namespace {

constexpr std::size_t kBytesPerStep = 16;
// Each level of explanation repeats the work of the levels below it.
constexpr std::size_t kExplanationsMax = 3;

// Equal values have equal texts: numbers by value, members by key.
void append_canonical(std::string& out, const Json& value) {
  if (const JsonNumber* const number = value.if_number()) {
    const Decimal decimal = Decimal::parse(number->text);
    out += (decimal.negative ? "-" : "") + decimal.digits + "e" + std::to_string(decimal.exponent);
  } else if (const JsonArray* const items = value.if_array()) {
    out.push_back('[');
    for (const Json& item : *items) {
      append_canonical(out, item);
      out.push_back(',');
    }
    out.push_back(']');
  } else if (const JsonObject* const object = value.if_object()) {
    std::vector<const JsonMember*> sorted;
    for (const JsonMember& member : object->members()) sorted.push_back(&member);
    std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->key < b->key; });
    out.push_back('{');
    for (const JsonMember* member : sorted) {
      append_json_string(out, member->key);
      append_canonical(out, member->value);
    }
    out.push_back('}');
  } else {
    append_json(out, value);
  }
}

std::string in_quotes(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

}  // namespace

bool Validation::check(const ItemCount& keyword, const At& at) {
  if (!at.value.is_array()) return true;
  return check_count(keyword.count, at.value.array().size(), "Items", at);
}

bool Validation::check(const UniqueItems&, const At& at) {
  if (!at.value.is_array()) return true;
  const JsonArray& items = at.value.array();
  std::vector<std::pair<std::string, std::size_t>> texts;
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::string text;
    append_canonical(text, items[i]);
    if (!spend(1 + text.size() / kBytesPerStep)) return false;
    texts.emplace_back(std::move(text), i);
  }
  std::sort(texts.begin(), texts.end());
  const auto twice = std::adjacent_find(
      texts.begin(), texts.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice == texts.end()) return true;
  return fail(at, "uniqueItems",
              "expected no item twice, but items " + std::to_string(twice->second) + " and " +
                  std::to_string((twice + 1)->second) + " are equal");
}

bool Validation::check(const Items& keyword, const At& at) {
  if (!at.value.is_array()) return true;
  const JsonArray& items = at.value.array();
  const std::size_t prefix = std::min(keyword.prefix.size(), items.size());
  const std::size_t end = keyword.rest ? items.size() : prefix;
  bool valid = true;
  for (std::size_t i = 0; i < end; ++i) {
    const NodeId node = i < prefix ? keyword.prefix[i] : *keyword.rest;
    if (!holds(node, items[i], at.path.item(i), nullptr)) valid = false;
    if (!valid && !is_reporting()) return false;
    if (at.evaluated != nullptr && i < prefix) at.evaluated->add(i);
  }
  if (at.evaluated != nullptr && keyword.rest) at.evaluated->everything = true;
  return valid;
}

bool Validation::check(const Contains& keyword, const At& at) {
  if (!at.value.is_array()) return true;
  const JsonArray& items = at.value.array();
  std::size_t found = 0;
  std::vector<SchemaFault>* const sink = std::exchange(sink_, nullptr);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!holds(keyword.node, items[i], at.path.item(i), nullptr)) continue;
    ++found;
    if (at.evaluated != nullptr) at.evaluated->add(i);
  }
  sink_ = sink;
  if (found < keyword.count.min) {
    const std::string_view name = found == 0 ? "contains" : "minContains";
    return fail(at, name,
                "expected at least " + std::to_string(keyword.count.min) +
                    " items that match, got " + std::to_string(found));
  }
  if (keyword.count.max && found > *keyword.count.max) {
    return fail(at, "maxContains",
                "expected at most " + std::to_string(*keyword.count.max) +
                    " items that match, got " + std::to_string(found));
  }
  return true;
}

bool Validation::check(const UnevaluatedItems& keyword, const At& at) {
  if (!at.value.is_array()) return true;
  const JsonArray& items = at.value.array();
  bool valid = true;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (at.evaluated->has(i)) continue;
    if (!holds(keyword.node, items[i], at.path.item(i), nullptr)) valid = false;
    if (!valid && !is_reporting()) return false;
  }
  at.evaluated->everything = true;
  return valid;
}

bool Validation::check(const MemberCount& keyword, const At& at) {
  if (!at.value.is_object()) return true;
  return check_count(keyword.count, at.value.object().size(), "Properties", at);
}

bool Validation::check_missing(const std::vector<std::string>& keys, std::string_view keyword,
                               const std::string& reason, const At& at) {
  bool valid = true;
  if (!spend(keys.size())) return false;
  for (const std::string& key : keys) {
    if (at.value.object().contains(key)) continue;
    valid = fail(at, keyword, "the member " + shortened(in_quotes(key)) + " is missing" + reason);
    if (!is_reporting()) return false;
  }
  return valid;
}

bool Validation::check(const Required& keyword, const At& at) {
  return !at.value.is_object() || check_missing(keyword.keys, "required", "", at);
}

bool Validation::check(const DependentRequired& keyword, const At& at) {
  if (!at.value.is_object()) return true;
  bool valid = true;
  for (const auto& [present, keys] : keyword.keys) {
    if (!at.value.object().contains(present)) continue;
    const std::string reason = "; " + shortened(in_quotes(present)) + " needs it";
    if (!check_missing(keys, keyword.keyword, reason, at)) valid = false;
  }
  return valid;
}

bool Validation::check_member(const Members& keyword, const At& at, std::size_t position) {
  const JsonMember& member = at.value.object().members()[position];
  const InstancePath path = at.path.member(member.key);
  bool valid = true;
  bool known = false;
  if (const auto named = keyword.named.find(member.key); named != keyword.named.end()) {
    known = true;
    valid = holds(named->second, member.value, path, nullptr);
  }
  for (const auto& [pattern, node] : keyword.matching) {
    if (!spend(1 + member.key.size() / kBytesPerStep)) return false;
    if (!re2::RE2::PartialMatch(member.key, *pattern.regex)) continue;
    known = true;
    if (!holds(node, member.value, path, nullptr)) valid = false;
  }
  if (!known && keyword.rest) {
    known = true;
    if (is_reporting() && compiled_.nodes[*keyword.rest].refuses_all) {
      std::vector<std::string> names;
      for (const auto& entry : keyword.named) names.push_back(in_quotes(entry.first));
      return fail({at.node, member.value, path, nullptr}, "additionalProperties",
                  names.empty() ? "unknown member" : "unknown member, expected " + listed(names));
    }
    valid = holds(*keyword.rest, member.value, path, nullptr);
  }
  if (known && at.evaluated != nullptr) at.evaluated->add(position);
  return valid;
}

bool Validation::check(const Members& keyword, const At& at) {
  if (!at.value.is_object()) return true;
  bool valid = true;
  for (std::size_t i = 0; i < at.value.object().size(); ++i) {
    if (!spend(1)) return false;
    if (!check_member(keyword, at, i)) valid = false;
    if (!valid && !is_reporting()) return false;
  }
  return valid;
}

bool Validation::check(const MemberNames& keyword, const At& at) {
  if (!at.value.is_object()) return true;
  bool valid = true;
  for (const JsonMember& member : at.value.object().members()) {
    if (!spend(1 + member.key.size() / kBytesPerStep)) return false;
    const Json name(member.key);
    if (!holds(keyword.node, name, at.path.member(member.key), nullptr)) valid = false;
    if (!valid && !is_reporting()) return false;
  }
  return valid;
}

bool Validation::check(const UnevaluatedMembers& keyword, const At& at) {
  if (!at.value.is_object()) return true;
  const auto& members = at.value.object().members();
  bool valid = true;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (at.evaluated->has(i)) continue;
    const InstancePath path = at.path.member(members[i].key);
    if (is_reporting() && compiled_.nodes[keyword.node].refuses_all) {
      valid = fail({at.node, members[i].value, path, nullptr}, "unevaluatedProperties",
                   "unknown member");
      continue;
    }
    if (!holds(keyword.node, members[i].value, path, nullptr)) valid = false;
    if (!valid && !is_reporting()) return false;
  }
  at.evaluated->everything = true;
  return valid;
}

bool Validation::check(const AllOf& keyword, const At& at) {
  bool valid = true;
  for (const NodeId node : keyword.nodes) {
    if (!holds_at(node, at)) valid = false;
    if (!valid && !is_reporting()) return false;
  }
  return valid;
}

bool Validation::check(const AnyOf& keyword, const At& at) {
  bool valid = false;
  for (const NodeId node : keyword.nodes) {
    if (holds_quietly(node, at)) valid = true;
    // Every alternative that holds has a say in what is evaluated.
    if (valid && at.evaluated == nullptr) return true;
  }
  if (valid || !is_reporting()) return valid;
  return fail_alternatives(keyword.nodes, "anyOf", at);
}

bool Validation::check(const OneOf& keyword, const At& at) {
  std::vector<std::string> matching;
  for (std::size_t i = 0; i < keyword.nodes.size(); ++i) {
    if (holds_quietly(keyword.nodes[i], at)) matching.push_back(std::to_string(i));
    if (matching.size() > 1 && !is_reporting()) return false;
  }
  if (matching.size() == 1 || !is_reporting()) return matching.size() == 1;
  if (!matching.empty()) {
    return fail(at, "oneOf",
                "expected to match one alternative, but matches " +
                    std::to_string(matching.size()) + " (" + listed(matching) + ")");
  }
  return fail_alternatives(keyword.nodes, "oneOf", at);
}

bool Validation::fail_alternatives(const std::vector<NodeId>& nodes, std::string_view keyword,
                                   const At& at) {
  const bool explain = explaining_ < kExplanationsMax;
  fail(at, keyword,
       "matches none of " + std::to_string(nodes.size()) + " alternatives" +
           (explain ? "; the closest:" : ""));
  if (!explain) return false;
  ++explaining_;
  for (SchemaFault& fault : closest_faults(nodes, at)) {
    if (is_reporting()) sink_->push_back(std::move(fault));
  }
  --explaining_;
  return false;
}

std::vector<SchemaFault> Validation::closest_faults(const std::vector<NodeId>& nodes,
                                                    const At& at) {
  std::vector<SchemaFault>* const sink = sink_;
  const std::string here = pointer_to(at.path);
  std::vector<SchemaFault> closest;
  std::size_t closest_cost = 0;
  for (const NodeId node : nodes) {
    std::vector<SchemaFault> faults;
    sink_ = &faults;
    holds_at(node, at);
    // An alternative of another type is meant least of all; else the fewest faults win.
    const bool other_type =
        std::any_of(faults.begin(), faults.end(), [&](const SchemaFault& fault) {
          return fault.instance_path == here && fault.schema_path.ends_with("/type");
        });
    const std::size_t cost = faults.size() + (other_type ? compiled_.faults_max + 1 : 0);
    if (!closest.empty() && cost >= closest_cost) continue;
    closest = std::move(faults);
    closest_cost = cost;
  }
  sink_ = sink;
  return closest;
}

bool Validation::check(const Not& keyword, const At& at) {
  At inner = at;
  Evaluated dropped;
  if (at.evaluated != nullptr) inner.evaluated = &dropped;
  if (!holds_quietly(keyword.node, inner)) return true;
  return fail(at, "not", "matches what is excluded, got " + excerpt(at.value));
}

bool Validation::check(const Conditional& keyword, const At& at) {
  const bool condition = holds_quietly(keyword.condition, at);
  const auto& branch = condition ? keyword.then_node : keyword.else_node;
  return !branch || holds_at(*branch, at);
}

bool Validation::check(const DependentSchemas& keyword, const At& at) {
  if (!at.value.is_object()) return true;
  bool valid = true;
  for (const auto& [key, node] : keyword.nodes) {
    if (at.value.object().contains(key) && !holds_at(node, at)) valid = false;
  }
  return valid;
}

bool Validation::check(const Reference& keyword, const At& at) {
  return holds_at(keyword.node, at);
}

bool Validation::check(const DynamicReference& keyword, const At& at) {
  if (!spend(scope_.size() / kBytesPerStep)) return false;
  for (const std::uint32_t resource : scope_) {
    const auto anchor = compiled_.dynamic_anchors.find({resource, keyword.anchor});
    if (anchor != compiled_.dynamic_anchors.end()) return holds_at(anchor->second, at);
  }
  return holds_at(keyword.node, at);
}

}  // namespace pawl::schema
