#include "pawl/run/agent/descent.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

TEST_CASE("agents of agents are named by their way, and each run has those below it") {
  CharterAgent inner;
  inner.name = "inner";
  inner.text = "in";
  inner.directory = "/p/sub";
  CharterAgent outer;
  outer.name = "outer";
  outer.text = "out";
  outer.beneath = {inner};
  Charter charter;
  charter.directory = "/p";
  charter.machine.agents = {outer};

  const std::vector<AgentText> all = agents_of(charter);
  REQUIRE(all.size() == 2);
  CHECK(all[0].spec.name == "outer");
  CHECK(all[0].spec.directory == "/p");
  CHECK(all[0].spec.digest == sha256("out"));
  CHECK(all[1].spec.name == "outer/inner");
  CHECK(all[1].spec.directory == "/p/sub");
  const std::vector<AgentText> own = agents_beneath(all, "outer");
  REQUIRE(own.size() == 1);
  CHECK(own[0].spec.name == "inner");
  CHECK(own[0].text == "in");
  CHECK(agents_beneath(own, "inner").empty());
}

TEST_CASE("of two limits that are both said the smaller one holds") {
  Limits charter;
  charter.steps = 30;
  charter.cost_pico = 5;
  Limits entry;
  entry.steps = 40;
  entry.budget_tokens = 7;
  const Limits both = limits_beside(charter, entry);
  CHECK(both.steps == 30);
  CHECK(both.cost_pico == 5);
  CHECK(both.budget_tokens == 7);
  CHECK(limits_beside(Limits{}, entry).steps == 40);  // the charter says nothing of it
}

}  // namespace
}  // namespace pawl
