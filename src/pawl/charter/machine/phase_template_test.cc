#include "pawl/charter/machine/phase_template.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

TEST_CASE("templates in templates are found once, from the inside") {
  using Uses = std::vector<TemplateUse>;
  CHECK(template_uses("{{{{input}}}}") == Uses{{TemplateUse::Kind::input}});
  CHECK(template_uses("{{vars.{{x}}}}") == Uses{{TemplateUse::Kind::variable, "x"}});
  CHECK(template_uses("{{phases.a.output/b}}") == Uses{{TemplateUse::Kind::output, "a", "/b"}});
  CHECK(template_uses(std::string(100'000, '{')).empty());
}

}  // namespace
}  // namespace pawl
