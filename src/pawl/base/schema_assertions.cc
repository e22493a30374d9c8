#include <array>

#include "pawl/base/schema_compiler.h"
#include "pawl/base/schema_regex.h"

namespace pawl::schema {

Status Compiler::assertions() {
  PAWL_CHECK(types());
  PAWL_CHECK(values());
  PAWL_CHECK(numbers());
  PAWL_CHECK(counts());
  PAWL_CHECK(pattern());
  return names();
}

Status Compiler::types() {
  const Json* const type = schema_->find("type");
  if (type == nullptr) return ok();
  TypeIn keyword;
  const JsonArray one = {*type};
  for (const Json& name : type->is_array() ? type->array() : one) {
    if (!name.is_string()) return fault("type", "expected a string or an array of strings");
    if (!add_type(keyword, name.string())) return fault("type", "unknown type " + name.string());
  }
  add(std::move(keyword));
  return ok();
}

bool Compiler::add_type(TypeIn& keyword, const std::string& name) {
  if (!keyword.names.empty()) keyword.names += " or ";
  keyword.names += name;
  if (name == "integer") return keyword.integer = true;
  for (std::size_t kind = 0; kind < keyword.kinds.size(); ++kind) {
    if (name == pawl::name(static_cast<JsonKind>(kind))) return keyword.kinds.set(kind), true;
  }
  return false;
}

Status Compiler::values() {
  if (const Json* const value = schema_->find("const")) add(ValueIn{{*value}, "const"});
  const Json* const list = schema_->find("enum");
  if (list == nullptr) return ok();
  if (!list->is_array()) return fault("enum", "expected an array");
  add(ValueIn{list->array(), "enum"});
  return ok();
}

Status Compiler::numbers() {
  using Kind = NumberBound::Kind;
  static constexpr std::array kBounds = {
      std::pair{"minimum", Kind::minimum},
      std::pair{"maximum", Kind::maximum},
      std::pair{"exclusiveMinimum", Kind::exclusive_minimum},
      std::pair{"exclusiveMaximum", Kind::exclusive_maximum},
  };
  for (const auto& [name, kind] : kBounds) {
    const Json* const limit = schema_->find(name);
    if (limit == nullptr) continue;
    if (!limit->is_number()) return fault(name, "expected a number");
    add(NumberBound{kind, Decimal::parse(limit->number().text), limit->number().text});
  }
  const Json* const multiple = schema_->find("multipleOf");
  if (multiple == nullptr) return ok();
  if (!multiple->is_number()) return fault("multipleOf", "expected a number");
  const std::string& text = multiple->number().text;
  Decimal divisor = Decimal::parse(text);
  if (divisor.is_zero() || divisor.negative) return fault("multipleOf", "expected more than 0");
  if (divisor.digits.size() > kDivisorDigitsMax) {
    return fault("multipleOf", "more than 18 significant digits are not supported");
  }
  add(MultipleOf{std::move(divisor), text});
  return ok();
}

Result<std::optional<std::uint64_t>> Compiler::count_of(std::string_view keyword) {
  const Json* const count = schema_->find(keyword);
  if (count == nullptr) return std::optional<std::uint64_t>();
  const auto value = count->as_uint64();
  if (!value) return fault(keyword, "expected an integer of 0 or more");
  return value;
}

Status Compiler::counts() {
  PAWL_CHECK(count_between<TextLength>("minLength", "maxLength"));
  PAWL_CHECK(count_between<ItemCount>("minItems", "maxItems"));
  PAWL_CHECK(count_between<MemberCount>("minProperties", "maxProperties"));
  const Json* const unique = schema_->find("uniqueItems");
  if (unique == nullptr) return ok();
  if (!unique->is_boolean()) return fault("uniqueItems", "expected a boolean");
  if (unique->boolean()) add(UniqueItems{});
  return ok();
}

Result<Pattern> Compiler::pattern_from(std::string_view keyword, const std::string& source) {
  auto& known = patterns_[source];
  if (known == nullptr) {
    auto regex = compile_pattern(source);
    if (!regex) return fault(keyword, regex.error().message);
    known = *std::move(regex);
    pattern_bytes_ += static_cast<std::size_t>(known->options().max_mem());
  }
  if (pattern_bytes_ > kPatternMemoryMax) {
    return fault(keyword, "the regular expressions together may need over 128 MiB");
  }
  return Pattern{known, source};
}

Status Compiler::pattern() {
  const Json* const source = schema_->find("pattern");
  if (source == nullptr) return ok();
  if (!source->is_string()) return fault("pattern", "expected a string");
  PAWL_TRY(Pattern keyword, pattern_from("pattern", source->string()));
  add(std::move(keyword));
  return ok();
}

Status Compiler::format() {
  const Json* const named = schema_->find("format");
  if (named == nullptr) return ok();
  if (!named->is_string()) return fault("format", "expected a string");
  if (options_.formats == SchemaFormats::annotate && !dialect_.format_assertion) return ok();
  const FormatCheck check = find_format(named->string());
  if (check != nullptr) add(FormatIs{check, named->string()});
  return ok();
}

Result<std::vector<std::string>> Compiler::strings(std::string_view keyword,
                                                   const Json& list) const {
  std::vector<std::string> out;
  const Error wrong = fault(keyword, "expected an array of strings");
  if (!list.is_array()) return wrong;
  for (const Json& item : list.array()) {
    if (!item.is_string()) return wrong;
    out.push_back(item.string());
  }
  return out;
}

Status Compiler::names() {
  if (const Json* const required = schema_->find("required")) {
    PAWL_TRY(std::vector<std::string> keys, strings("required", *required));
    add(Required{std::move(keys)});
  }
  const Json* const dependent = is_draft7() ? nullptr : schema_->find("dependentRequired");
  if (dependent == nullptr) return ok();
  if (!dependent->is_object()) return fault("dependentRequired", "expected an object");
  DependentRequired keyword{{}, "dependentRequired"};
  for (const JsonMember& member : dependent->object().members()) {
    PAWL_TRY(keyword.keys[member.key], strings("dependentRequired", member.value));
  }
  add(std::move(keyword));
  return ok();
}

}  // namespace pawl::schema
