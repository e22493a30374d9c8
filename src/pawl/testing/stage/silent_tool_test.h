// A tool that is there and does nothing, for tests of what is said about it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "pawl/tool.h"

namespace pawl {

class SilentTool final : public Tool {
 public:
  explicit SilentTool(ToolSpec spec) : spec_(std::move(spec)) {}
  const ToolSpec& spec() const override { return spec_; }
  std::unique_ptr<Operation> invoke(const ToolInvocation&,
                                    std::function<void(ToolOutcome)>) override {
    return nullptr;
  }
  std::unique_ptr<Operation> status(const ToolInvocation&,
                                    std::function<void(ToolStatus)>) override {
    return nullptr;
  }

 private:
  ToolSpec spec_;
};

inline std::shared_ptr<Tool> silent_tool(std::string name,
                                         std::string schema = R"({"type":"object"})") {
  ToolSpec spec;
  spec.name = std::move(name);
  spec.input_schema = std::move(schema);
  return std::make_shared<SilentTool>(std::move(spec));
}

}  // namespace pawl
