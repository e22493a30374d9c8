// A host that keeps its runs: the first runner starts one, and the second finds it.
#include <pawl/pawl.h>

#include <iostream>
#include <utility>

namespace {

pawl::Runner make_runner() {
  pawl::Ports ports;
  ports.open_store = pawl::sqlite_store("kept");
  return pawl::Runner(std::move(ports));
}

}  // namespace

int main() {
  pawl::RunId run;
  {
    pawl::Runner runner = make_runner();
    pawl::RunnableAgent agent;
    agent.charter.name = "keeper";
    agent.charter.instructions = "Say it.";
    agent.executor = runner.scripted({.replies = {pawl::ScriptReply::say("kept")}});
    const pawl::Runner::Result result = runner.run(agent, "Hi");
    if (result.output != "kept") {
      std::cerr << result.error << '\n';
      return 1;
    }
    run = result.run_id;
  }
  pawl::Runner again = make_runner();
  const auto runs = again.store().catalog->list({});
  if (!runs || runs->size() != 1 || runs->front().id != run) return 1;
  std::cout << runs->front().name << ": " << runs->front().status << '\n';
}
