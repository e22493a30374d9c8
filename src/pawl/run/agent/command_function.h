// Commands that a host has a function for: what `do` says in a charter.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pawl/base/json.h"

namespace pawl {

// The actions of a command, in order; all of them are done, or none.
class CommandActions {
 public:
  CommandActions& patch(Json patch) { return add("patch", std::move(patch)); }
  CommandActions& transition(std::string name) { return add("transition", Json(std::move(name))); }
  CommandActions& spawn(std::string worker, Json input, std::optional<Json> state = {});
  CommandActions& cede(Json content) { return add("cede", std::move(content)); }
  CommandActions& suspend(std::string reason, std::optional<Json> metadata = {});
  // Without an id: whatever it is suspended as.
  CommandActions& resume(std::optional<std::string> suspend_id = {});
  CommandActions& message(std::string text) { return add("message", Json(std::move(text))); }

  // As JSON, the way `do` of a charter has them.
  std::string text() const { return write_json(Json(list_)); }

 private:
  CommandActions& add(std::string key, Json value);

  JsonArray list_;
};

// Pure: of the state of the instance and the input alone. It may be called more than once.
using CommandFunction = std::function<CommandActions(const Json& state, const Json& input)>;

struct HostCommand {
  std::string node;  // empty: any
  std::string name;
  CommandFunction function;
};

// nullptr: there is none.
const CommandFunction* find_function(const std::vector<HostCommand>& commands,
                                     std::string_view node, std::string_view name);

}  // namespace pawl
