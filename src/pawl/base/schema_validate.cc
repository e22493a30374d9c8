#include <algorithm>

#include "pawl/base/schema_uri.h"
#include "pawl/base/schema_validation.h"
#include "pawl/base/utf8.h"

namespace pawl {
namespace schema {
namespace {

// Frames of holds(): a few for each level of the value. Enough for values of the reader's depth
// under ordinary schemas, and far from the end of a thread's stack.
constexpr std::size_t kDepthMax = 512;
constexpr std::size_t kExcerptBytesMax = 60;
constexpr std::size_t kPointerBytesMax = 1024;
constexpr std::size_t kListedMax = 20;
constexpr std::size_t kBytesPerStep = 64;

}  // namespace

std::string shortened(std::string text) {
  if (text.size() <= kExcerptBytesMax) return text;
  std::size_t end = kExcerptBytesMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "...";
}

std::string pointer_to(const InstancePath& path) {
  std::vector<const InstancePath*> steps;
  for (const InstancePath* step = &path; step->parent != nullptr; step = step->parent) {
    steps.push_back(step);
  }
  std::string pointer;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const bool is_item = (*step)->kind == InstancePath::Kind::item;
    append_pointer_token(pointer, is_item ? std::to_string((*step)->index) : (*step)->key);
  }
  if (pointer.size() <= kPointerBytesMax) return pointer;
  pointer.resize(kPointerBytesMax);
  return to_valid_utf8(pointer) + "...";
}

void Evaluated::add(std::size_t part) {
  if (everything) return;
  if (parts.size() <= part) parts.resize(part + 1);
  parts[part] = true;
}

void Evaluated::add(const Evaluated& other) {
  everything = everything || other.everything;
  if (parts.size() < other.parts.size()) parts.resize(other.parts.size());
  for (std::size_t i = 0; i < other.parts.size(); ++i) parts[i] = parts[i] || other.parts[i];
}

std::string excerpt(const Json& value) {
  switch (value.kind()) {
    case JsonKind::null:
      return "null";
    case JsonKind::array:
      return "array of " + std::to_string(value.array().size());
    case JsonKind::object:
      return "object of " + std::to_string(value.object().size());
    default:
      return std::string(name(value.kind())) + " " + shortened(write_json(value));
  }
}

std::string listed(const std::vector<std::string>& texts) {
  std::string out;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i == kListedMax) return out + " and " + std::to_string(texts.size() - i) + " more";
    if (i != 0) out += i + 1 == texts.size() ? " or " : ", ";
    out += shortened(texts[i]);
  }
  return out;
}

bool Validation::spend(std::size_t steps) {
  steps_ += steps;
  if (steps_ > compiled_.steps_max) {
    stop("validation needs more than " + std::to_string(compiled_.steps_max) + " steps");
  }
  return stopped_.empty();
}

void Validation::stop(std::string reason) {
  if (stopped_.empty()) stopped_ = std::move(reason);
}

bool Validation::fail(const At& at, std::string_view keyword, std::string message) {
  if (!is_reporting()) return false;
  std::string place = at.node.path;
  if (!keyword.empty()) append_pointer_token(place, keyword);
  sink_->push_back({pointer_to(at.path), std::move(place), std::move(message)});
  return false;
}

std::vector<SchemaFault> Validation::finish(const Json& instance) {
  std::vector<SchemaFault> faults;
  sink_ = &faults;
  const bool valid = holds(0, instance, InstancePath{}, nullptr);
  if (!stopped_.empty()) return {{"", "", stopped_}};
  if (!valid && faults.empty()) faults.push_back({"", "", "does not match the schema"});
  return faults;
}

bool Validation::holds(NodeId id, const Json& value, const InstancePath& path,
                       Evaluated* evaluated) {
  const Node& node = compiled_.nodes[id];
  if (!spend(1 + node.keywords.size())) return false;
  if (depth_ == kDepthMax) {
    stop("value and schema nest deeper than " + std::to_string(kDepthMax) + " levels");
    return false;
  }
  if (node.refuses_all) {
    return fail({node, value, path, nullptr}, "", "nothing is allowed here, got " + excerpt(value));
  }
  Evaluated own;
  ++depth_;
  scope_.push_back(node.resource);
  const bool valid =
      holds_keywords({node, value, path, compiled_.tracks_evaluated ? &own : nullptr});
  scope_.pop_back();
  --depth_;
  if (valid && evaluated != nullptr && spend(own.parts.size())) evaluated->add(own);
  return valid && stopped_.empty();
}

bool Validation::holds_keywords(const At& at) {
  bool valid = true;
  for (const Keyword& keyword : at.node.keywords) {
    const bool held = std::visit([&](const auto& known) { return check(known, at); }, keyword);
    valid = valid && held;
    // Without a report, the first fault decides.
    if (!valid && !is_reporting()) return false;
  }
  return valid;
}

bool Validation::holds_quietly(NodeId id, const At& at) {
  std::vector<SchemaFault>* const sink = std::exchange(sink_, nullptr);
  const bool valid = holds_at(id, at);
  sink_ = sink;
  return valid;
}

std::optional<Decimal> Validation::number_at(const At& at) {
  const JsonNumber* const number = at.value.if_number();
  if (number == nullptr || !spend(number->text.size() / kBytesPerStep)) return std::nullopt;
  return Decimal::parse(number->text);
}

bool Validation::check(const TypeIn& keyword, const At& at) {
  if (keyword.kinds.test(static_cast<std::size_t>(at.value.kind()))) return true;
  if (keyword.integer) {
    const auto number = number_at(at);
    if (number && number->is_integer()) return true;
  }
  if (!is_reporting()) return false;
  return fail(at, "type", "expected " + keyword.names + ", got " + excerpt(at.value));
}

bool Validation::check(const ValueIn& keyword, const At& at) {
  const std::size_t bytes = at.value.is_number() ? at.value.number().text.size() : 0;
  if (!spend(keyword.values.size() * (1 + bytes / kBytesPerStep))) return false;
  for (const Json& value : keyword.values) {
    if (equal_values(value, at.value)) return true;
  }
  if (!is_reporting()) return false;
  std::vector<std::string> texts;
  for (const Json& value : keyword.values) texts.push_back(write_json(value));
  const std::string_view one_of = texts.size() == 1 ? "" : "one of ";
  return fail(at, keyword.keyword,
              "expected " + std::string(one_of) + listed(texts) + ", got " + excerpt(at.value));
}

bool Validation::check(const NumberBound& keyword, const At& at) {
  using Kind = NumberBound::Kind;
  const auto number = number_at(at);
  if (!number) return true;
  const auto order = compare(*number, keyword.limit);
  const auto refuse = [&](std::string_view name, const std::string& expected) {
    return fail(
        at, name,
        "expected " + expected + " " + keyword.text + ", got " + shortened(at.value.number().text));
  };
  switch (keyword.kind) {
    case Kind::minimum:
      return order >= 0 || refuse("minimum", "at least");
    case Kind::maximum:
      return order <= 0 || refuse("maximum", "at most");
    case Kind::exclusive_minimum:
      return order > 0 || refuse("exclusiveMinimum", "more than");
    case Kind::exclusive_maximum:
      return order < 0 || refuse("exclusiveMaximum", "less than");
  }
  return false;
}

bool Validation::check(const MultipleOf& keyword, const At& at) {
  const auto number = number_at(at);
  if (!number || is_multiple(*number, keyword.divisor)) return true;
  return fail(
      at, "multipleOf",
      "expected a multiple of " + keyword.text + ", got " + shortened(at.value.number().text));
}

bool Validation::check(const TextLength& keyword, const At& at) {
  const std::string* const text = at.value.if_string();
  if (text == nullptr) return true;
  if (!spend(text->size() / kBytesPerStep)) return false;
  return check_count(keyword.count, count_utf8(*text), "Length", at);
}

bool Validation::check(const Pattern& keyword, const At& at) {
  const std::string* const text = at.value.if_string();
  if (text == nullptr) return true;
  if (!spend(text->size() / kBytesPerStep)) return false;
  if (re2::RE2::PartialMatch(*text, *keyword.regex)) return true;
  return fail(at, "pattern",
              "expected text that matches " + keyword.source + ", got " + excerpt(at.value));
}

bool Validation::check(const FormatIs& keyword, const At& at) {
  const std::string* const text = at.value.if_string();
  // Dearer than it looks: the format regex compiles the text.
  if (text == nullptr || !spend(kBytesPerStep + text->size()) || keyword.check(*text)) return true;
  return fail(at, "format", "expected format " + keyword.name + ", got " + excerpt(at.value));
}

bool Validation::check_count(const Count& count, std::size_t found, std::string_view unit,
                             const At& at) {
  const auto refuse = [&](std::string_view prefix, std::string_view expected, std::uint64_t limit) {
    const std::string what = unit == "Length"  ? "characters"
                             : unit == "Items" ? "items"
                                               : "members";
    return fail(at, std::string(prefix) + std::string(unit),
                "expected " + std::string(expected) + " " + std::to_string(limit) + " " + what +
                    ", got " + std::to_string(found));
  };
  if (found < count.min) return refuse("min", "at least", count.min);
  if (count.max && found > *count.max) return refuse("max", "at most", *count.max);
  return true;
}

std::vector<SchemaFault> validate(const Compiled& compiled, const Json& instance) {
  return Validation(compiled).finish(instance);
}

}  // namespace schema

std::string describe(const SchemaFault& fault) {
  const std::string where = fault.instance_path.empty() ? "(root)" : fault.instance_path;
  return where + ": " + fault.message;
}

std::string describe(const std::vector<SchemaFault>& faults) {
  std::string text;
  for (const SchemaFault& fault : faults) {
    if (!text.empty()) text.push_back('\n');
    text += describe(fault);
  }
  return text;
}

}  // namespace pawl
