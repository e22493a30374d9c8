#include "pawl/kernel/phase_template.h"

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

TEST_CASE("M17: values are inserted once and never searched again") {
  const auto says_so = [](const TemplateUse& use) {
    return use.kind == TemplateUse::Kind::input ? std::string("{{item}}") : std::string("I");
  };
  CHECK(*fill_template("a {{input}} b {{ item }} {{other thing}}", 100, says_so) ==
        "a {{item}} b I {{other thing}}");
  CHECK(fill_template("{{input}}", 7, says_so).error().code == ErrorCode::limit_exceeded);
}

}  // namespace
}  // namespace pawl
