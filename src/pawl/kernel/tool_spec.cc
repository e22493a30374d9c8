#include "pawl/content.h"
#include "pawl/kernel/node_spec.h"

namespace pawl {

std::string definition_key(const std::string& name, ToolScope scope, const std::string& owner) {
  if (scope == ToolScope::charter) return name;
  return name + " of " + std::string(pawl::name(scope)) + " " + owner;
}

std::string_view name(EffectClass effect) {
  switch (effect) {
    case EffectClass::pure:
      return "pure";
    case EffectClass::idempotent:
      return "idempotent";
    case EffectClass::reconcilable:
      return "reconcilable";
    case EffectClass::once:
      return "once";
  }
  return "once";
}

std::string_view name(OnDoubt policy) {
  return policy == OnDoubt::wait ? "wait" : "tell_model";
}

Result<EffectClass> parse_effect_class(std::string_view text) {
  for (const EffectClass effect :
       {EffectClass::pure, EffectClass::idempotent, EffectClass::reconcilable, EffectClass::once}) {
    if (text == name(effect)) return effect;
  }
  return Error{
      ErrorCode::invalid_argument,
      "an effect is pure, idempotent, reconcilable or once, not '" + std::string(text) + "'"};
}

Result<OnDoubt> parse_on_doubt(std::string_view text) {
  for (const OnDoubt policy : {OnDoubt::wait, OnDoubt::tell_model}) {
    if (text == name(policy)) return policy;
  }
  return Error{ErrorCode::invalid_argument,
               "on_doubt is wait or tell_model, not '" + std::string(text) + "'"};
}

std::string_view name(EndsTurn value) {
  return value == EndsTurn::yes ? "yes" : "no";
}

}  // namespace pawl
