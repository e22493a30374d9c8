#include "pawl/agent.h"

namespace pawl {

CommandActions& CommandActions::add(std::string key, Json value) {
  JsonObject action;
  action.set(std::move(key), std::move(value));
  list_.emplace_back(std::move(action));
  return *this;
}

CommandActions& CommandActions::spawn(std::string worker, Json input, std::optional<Json> state) {
  JsonObject spawn;
  spawn.set("worker", Json(std::move(worker)));
  spawn.set("input", std::move(input));
  if (state) spawn.set("state", *std::move(state));
  return add("spawn", Json(std::move(spawn)));
}

CommandActions& CommandActions::suspend(std::string reason, std::optional<Json> metadata) {
  JsonObject suspend;
  suspend.set("reason", Json(std::move(reason)));
  if (metadata) suspend.set("metadata", *std::move(metadata));
  return add("suspend", Json(std::move(suspend)));
}

CommandActions& CommandActions::resume(std::optional<std::string> suspend_id) {
  JsonObject resume;
  if (suspend_id) resume.set("suspend_id", Json(*std::move(suspend_id)));
  return add("resume", Json(std::move(resume)));
}

const CommandFunction* find_function(const std::vector<HostCommand>& commands,
                                     std::string_view node, std::string_view name) {
  for (const HostCommand& one : commands) {
    const bool meant = one.node.empty() || one.node == node;
    if (meant && one.name == name && one.function) return &one.function;
  }
  return nullptr;
}

}  // namespace pawl
