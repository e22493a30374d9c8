#include "pawl/gate/policy_sandbox.h"

#include <doctest/doctest.h>

#include "pawl/adapter/yaml/yaml.h"

namespace pawl {
namespace {

using Level = IsolationLevel;

SandboxDemand demand_of(const std::string& text, std::string* faults_found = nullptr) {
  const DocumentResult document = parse_yaml(text);
  REQUIRE(document.root);
  std::vector<Fault> faults;
  const SandboxDemand demand = read_sandbox_demand(*document.root, faults, "policy.sandbox");
  if (faults_found != nullptr) *faults_found = to_string(faults, "p.yaml");
  if (faults_found == nullptr) CHECK(faults.empty());
  return demand;
}

bool accepts(const std::string& demand, SandboxReach reach) {
  return sandbox_objection(demand_of(demand), reach).empty();
}

TEST_CASE("a demanded level accepts itself and stronger ones") {
  CHECK(accepts("{level: namespace}", {Level::namespaces, 0}));
  CHECK_FALSE(accepts("{level: namespace}", {Level::container, 0}));
  CHECK(accepts("{level: container}", {Level::namespaces, 0}));
  CHECK(accepts("{level: landlock}", {Level::container, 0}));
  for (const char* demand : {"{level: landlock}", "{level: container}", "{level: namespace}"}) {
    CHECK_FALSE(accepts(demand, {Level::none, 0}));
    CHECK_FALSE(accepts(demand, {Level::native, 0}));
  }
  CHECK(accepts("{}", {Level::none, 0}));
}

TEST_CASE("a demanded version of Landlock is held against the one that is used") {
  CHECK(accepts("{landlock: 3}", {Level::namespaces, 3}));
  CHECK(sandbox_objection(demand_of("{landlock: 3}"), {Level::namespaces, 2}) ==
        "demands version 3 of Landlock behind every sandbox, and here it is 2");
  CHECK(sandbox_objection(demand_of("{landlock: 1}"), {Level::container, 0}) ==
        "demands version 1 of Landlock behind every sandbox, and here it is not used");
}

TEST_CASE("a demand that cannot be meant is a fault with its place") {
  std::string faults;
  demand_of("{level: local}", &faults);
  CHECK(faults.find("p.yaml:1:9: policy.sandbox: \"level\" must be one of") != std::string::npos);
  demand_of("{landlock: 0}", &faults);
  CHECK(faults.find("\"landlock\"") != std::string::npos);
  demand_of("{lvel: namespace}", &faults);
  CHECK(faults.find("lvel") != std::string::npos);
}

}  // namespace
}  // namespace pawl
