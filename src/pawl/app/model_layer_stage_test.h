// A layer of models over fake executors, with a configuration and an environment of the test's.
#pragma once

#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pawl/app/program_models.h"
#include "pawl/models/fake_executor_test.h"
#include "tests/support/temp_directory.h"

namespace pawl {

struct ModelLayerStage {
  explicit ModelLayerStage(const std::string& config = "{}") { configure(config); }
  void configure(const std::string& text) const {
    std::ofstream(directory / "config.yaml") << text;
  }
  ModelLayer& layer() {
    if (made) return *made;
    ModelLayerOptions options;
    options.config = directory / "config.yaml";
    options.environment = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
    options.factory = [this](ProviderConfig config) {
      auto executor = std::make_shared<FakeExecutor>(loop);
      executor->set_models(config.models);
      executors[config.name] = executor;
      return executor;
    };
    options.note = [this](const std::string& text) { notes.push_back(text); };
    options.local_model = [this](const std::string& url) {
      asked.push_back(url);
      return local;
    };
    made = std::make_unique<ModelLayer>(loop, with_program_parts(std::move(options)));
    return *made;
  }

  TempDirectory directory;
  TestLoop loop;
  std::map<std::string, std::string> variables;
  std::map<std::string, std::shared_ptr<FakeExecutor>> executors;
  std::vector<std::string> notes;
  std::vector<std::string> asked;    // where a local server was looked for
  std::optional<std::string> local;  // and its model
  std::unique_ptr<ModelLayer> made;
};

}  // namespace pawl
