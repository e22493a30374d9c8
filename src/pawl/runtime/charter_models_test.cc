#include "pawl/runtime/charter_models.h"

#include <doctest/doctest.h>

#include "pawl/runtime/charter_test_support.h"

namespace pawl {
namespace {

std::string model_of(const std::string& more) {
  return good_charter("name: t\ninstructions: Do it.\n" + more).model;
}

std::string faults_of(const std::string& more) {
  return charter_faults("name: t\ninstructions: Do it.\n" + more);
}

TEST_CASE("the model is chosen by its name, by its target, or because there is only one") {
  CHECK(model_of("models: { main: scripted/a.yaml }") == "scripted/a.yaml");
  CHECK(model_of("models: { main: [scripted/a.yaml] }") == "scripted/a.yaml");
  CHECK(model_of("models: { a: x/1, b: x/2 }\nmodel: b") == "x/2");
  CHECK(model_of("models: { a: x/1, b: x/2 }\nmodel: y/3") == "y/3");
  CHECK(model_of("model: scripted/a.yaml") == "scripted/a.yaml");
  CHECK(model_of("models: { main: my-model }") == "my-model");
  CHECK(model_of("models: { a: x/1 }\nnodes: { n: { model: a } }") == "x/1");
}

TEST_CASE("a choice that is missing or leads nowhere is a fault with a way out") {
  CHECK(faults_of("") ==
        "f:1:1: charter: no model is named (add models: { main: scripted/FILE.yaml })\n");
  CHECK(faults_of("models: {}") ==
        "f:3:9: charter: no model is named (add models: { main: scripted/FILE.yaml })\n");
  CHECK(faults_of("models: { a: x/1, b: x/2 }") ==
        "f:3:9: charter: several models are named and none is chosen (add model: with one of a, "
        "b)\n");
  CHECK(faults_of("models: { coder: x/1 }\nmodel: coda") ==
        "f:4:8: charter: there is no model \"coda\" (name a target such as scripted/FILE.yaml, or "
        "one of coder)\n");
  CHECK(faults_of("model: [x/1]") == "f:3:8: charter: \"model\" must be a string, found a list\n");
  CHECK(faults_of("models: scripted/a.yaml") ==
        "f:3:9: models: must be a map, found the string \"scripted/a.yaml\"\n");
}

TEST_CASE("entries of models have a name and exactly one target") {
  CHECK(faults_of("models:\n  a: [x/1, x/2]\n") ==
        "f:4:12: models: tiers and failover are not part of this version (name one target for "
        "\"a\")\n");
  CHECK(faults_of("models: { a: [], b: 1, c: { d: e }, 'f g': x/1, h: '' }\nmodel: a") ==
        "f:3:14: models: \"a\" must be a target, found a list (for example scripted/FILE.yaml)\n"
        "f:3:21: models: \"b\" must be a target, found the integer 1 (for example "
        "scripted/FILE.yaml)\n"
        "f:3:27: models: \"c\" must be a target, found a map (for example scripted/FILE.yaml)\n"
        "f:3:37: models: \"f g\" is not a name of a model (letters, digits, '_', '-' and '.', at "
        "most 64)\n"
        "f:3:52: models: \"h\" must be a target, found the string \"\" (for example "
        "scripted/FILE.yaml)\n");
  std::string many = "model: x/1\nmodels:\n";
  for (int i = 0; i < 65; ++i) many += "  m" + std::to_string(i) + ": x/1\n";
  CHECK(faults_of(many) == "f:5:3: models: there may be 64 models\n");
}

}  // namespace
}  // namespace pawl
