#include <pawl/pawl.h>

#include <iostream>

int main() {
  pawl::Runner runner;  // no ports: in memory, within the default bounds
  pawl::ToolSpec clock;
  clock.name = "clock";
  clock.effect = pawl::EffectClass::pure;  // run again after a crash, if need be
  pawl::RunnableAgent agent;
  agent.charter.name = "hello";
  agent.charter.instructions = "Greet the user and tell the time.";
  agent.executor = runner.scripted({.replies = {pawl::ScriptReply::call("clock"),
                                                pawl::ScriptReply::say("Hello! It is noon.")}});
  agent.tools = {runner.tool({clock, [](const auto&) { return std::string("12:00"); }, {}})};
  const pawl::Runner::Result result = runner.run(agent, "Hi");
  std::cout << result.output << " (" << result.steps << " steps)\n";
  return result.error.empty() ? 0 : 1;
}
