#include "pawl/adapter/backend/git/ref_plan.h"

#include <optional>

#include "pawl/adapter/backend/git/ref_names.h"

namespace pawl::git {
namespace {

using Kind = RefStep::Kind;

std::string value_of(const Refs& refs, const std::string& name) {
  const auto found = refs.find(name);
  return found == refs.end() ? std::string() : found->second;
}

std::optional<Kind> kind_of(const std::string& agreed, const RefStep& step) {
  const bool host_moved = step.host != agreed;
  const bool own_moved = step.own != agreed;
  // Of what is not published, the host's word is the only one.
  if (!is_published(step.name)) return host_moved ? std::optional(Kind::take_in) : std::nullopt;
  if (!host_moved && !own_moved) return std::nullopt;
  if (step.host == step.own) return Kind::agree;
  if (!own_moved) return Kind::take_in;
  return host_moved ? Kind::collide : Kind::publish;
}

}  // namespace

std::vector<RefStep> plan_refs(const Refs& agreed, const Refs& host, const Refs& own,
                               const std::set<std::string>& elsewhere) {
  std::set<std::string> names;
  for (const Refs* refs : {&agreed, &host, &own}) {
    for (const auto& [name, object] : *refs) names.insert(name);
  }
  std::vector<RefStep> steps;
  std::size_t published = 0;
  for (const std::string& name : names) {
    RefStep step{Kind::publish, name, value_of(host, name), value_of(own, name)};
    const auto kind = kind_of(value_of(agreed, name), step);
    if (!kind) continue;
    step.kind = *kind;
    const bool outward = step.kind == Kind::publish || step.kind == Kind::collide;
    if (outward && elsewhere.contains(name)) step.kind = Kind::refuse;
    if (step.kind == Kind::publish && ++published > kRefsPublishedMax) continue;
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace pawl::git
