// A machine with two nodes, a state and commands, in C++: examples/machine/owned.yaml is like it.
#include <pawl/pawl.h>

#include <iostream>

int main() {
  pawl::Runner runner;
  const auto clerk = runner.scripted(
      {.replies = {pawl::ScriptReply::call("suspend", R"({"reason":"the shop decides"})"),
                   pawl::ScriptReply::say("Two are yours.")}});
  pawl::MachineBuilder shop("shop");
  shop.node("open")
      .instructions("Take the order, and wait until the shop has decided.")
      .executor(clerk)
      .state(R"({"type":"object","properties":{"stock":{"type":"integer"}}})", R"({"stock":10})")
      // A command is a pure function of the state and the input.
      .command("sell", [](const pawl::Json& state, const pawl::Json& input) {
        pawl::JsonObject patch;
        patch.set("stock", *state.find("stock")->as_int64() - *input.find("amount")->as_int64());
        return pawl::CommandActions().patch(std::move(patch)).resume();
      });
  const auto agent = shop.build();
  if (!agent) return std::cerr << agent.error().message, 2;
  const pawl::Runner::Result waiting = runner.run(*agent, "Two, please.");
  const pawl::Status sold = runner.command(waiting.run_id, "sell", R"({"amount": 2})");
  if (!sold) return std::cerr << sold.error().message, 1;
  const pawl::Runner::Result done = runner.resume(*agent, waiting.run_id);
  std::cout << done.output << " (" << done.steps << " steps)\n";
  return done.error.empty() ? 0 : 1;
}
