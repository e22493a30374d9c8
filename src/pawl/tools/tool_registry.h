// The tools of one agent, with their compiled schemas.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/base/schema.h"
#include "pawl/kernel/events.h"
#include "pawl/tool.h"

namespace pawl {

class ToolRegistry {
 public:
  // Refuses bad or duplicate names, schemas that do not compile, reconcilable tools without status.
  static Result<ToolRegistry> make(const std::vector<std::shared_ptr<Tool>>& tools);

  // By definition_key(): of a tool of the charter's own it is the name.
  Tool* find(std::string_view key) const;
  std::vector<ToolSpec> specs() const;
  std::vector<PinnedTool> pinned() const;
  // Why `input` is not acceptable for the tool; empty when it is, or when there is no such tool.
  std::string fault_of(std::string_view key, std::string_view input) const;

 private:
  struct Entry {
    std::shared_ptr<Tool> tool;
    Schema schema;
  };
  std::map<std::string, Entry, std::less<>> entries_;
};

Digest definition_digest(const ToolSpec& spec);

}  // namespace pawl
