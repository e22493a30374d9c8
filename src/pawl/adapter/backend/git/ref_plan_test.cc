#include "pawl/adapter/backend/git/ref_plan.h"

#include <doctest/doctest.h>

namespace pawl::git {
namespace {

using Kind = RefStep::Kind;

const std::string kMain = "refs/heads/main";

Refs at(const std::string& object) {
  return object.empty() ? Refs{} : Refs{{kMain, object}};
}

// What is done about a branch, as a letter; "-": nothing.
char about(const std::string& agreed, const std::string& host, const std::string& own) {
  const auto steps = plan_refs(at(agreed), at(host), at(own), {});
  return steps.empty() ? '-' : "ptacr"[static_cast<int>(steps.front().kind)];
}

TEST_CASE("whoever has moved a branch alone is followed") {
  CHECK(about("a", "a", "a") == '-');
  CHECK(about("a", "a", "b") == 'p');
  CHECK(about("", "", "b") == 'p');
  CHECK(about("a", "a", "") == 'p');
  CHECK(about("a", "b", "a") == 't');
  CHECK(about("", "b", "") == 't');
  CHECK(about("a", "", "a") == 't');
}

TEST_CASE("what both have moved agrees or collides") {
  CHECK(about("a", "b", "b") == 'a');
  CHECK(about("a", "", "") == 'a');
  CHECK(about("a", "b", "c") == 'c');
  CHECK(about("a", "", "c") == 'c');
  CHECK(about("", "b", "c") == 'c');
  CHECK(about("a", "b", "") == 'c');
}

TEST_CASE("what is not published is only ever taken in") {
  const Refs one{{"refs/remotes/origin/main", "a"}, {"refs/replace/x", "a"}};
  const Refs two{{"refs/remotes/origin/main", "b"}, {"refs/replace/x", "b"}};
  CHECK(plan_refs(one, one, two, {}).empty());
  for (const RefStep& step : plan_refs(one, two, one, {})) CHECK(step.kind == Kind::take_in);
}

TEST_CASE("a branch that another work tree has is left to it") {
  const auto steps = plan_refs(at("a"), at("a"), at("b"), {kMain});
  REQUIRE(steps.size() == 1);
  CHECK(steps.front().kind == Kind::refuse);
}

TEST_CASE("no more refs are published at a time than may be") {
  Refs many;
  for (std::size_t i = 0; i < 2 * kRefsPublishedMax; ++i) {
    many.emplace("refs/tags/" + std::to_string(i), "a");
  }
  CHECK(plan_refs({}, {}, many, {}).size() == kRefsPublishedMax);
}

}  // namespace
}  // namespace pawl::git
