#include "pawl/agent.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

TEST_CASE("actions are written the way a charter has them") {
  CommandActions actions;
  JsonObject patch;
  patch.set("n", Json(1));
  actions.patch(Json(patch)).transition("go").spawn("w", Json("look"), Json(JsonObject()));
  actions.cede(Json("x")).suspend("a key", Json(2)).resume("s1").resume().message("hello");
  CHECK(actions.text() ==
        R"([{"patch":{"n":1}},{"transition":"go"},)"
        R"({"spawn":{"worker":"w","input":"look","state":{}}},{"cede":"x"},)"
        R"({"suspend":{"reason":"a key","metadata":2}},{"resume":{"suspend_id":"s1"}},)"
        R"({"resume":{}},{"message":"hello"}])");
}

TEST_CASE("a function is found by its node and its name") {
  const CommandFunction none = [](const Json&, const Json&) { return CommandActions(); };
  const std::vector<HostCommand> commands = {{"a", "go", none}, {"", "any", none}};
  CHECK(find_function(commands, "a", "go") != nullptr);
  CHECK(find_function(commands, "b", "go") == nullptr);
  CHECK(find_function(commands, "b", "any") != nullptr);
}

}  // namespace
}  // namespace pawl
