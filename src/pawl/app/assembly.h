// From the text of a charter to an agent that can run: the models and tools it names, as adapters.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pawl/app/model_layer.h"
#include "pawl/app/toolbox.h"
#include "pawl/port/loop.h"
#include "pawl/runtime/agent.h"

namespace pawl {

inline constexpr std::size_t kCharterBytesMax = std::size_t{4} << 20U;

struct Assembled {
  std::optional<RunnableAgent> agent;   // nullopt when there are faults
  std::vector<std::string> faults;      // "file:line:column: message (remedy)"
  std::vector<std::string> notes = {};  // what the user should know all the same
};

// Made and used on the loop thread; the loop outlives it and what it makes.
class AgentAssembler {
 public:
  AgentAssembler(Loop& loop, ModelLayer& models, ToolboxOptions tools = {})
      : loop_(loop), models_(models), toolbox_(loop, std::move(tools)) {}

  Assembled from_file(const std::string& path);
  // Without tools, for a conversation; empty: the default model.
  Assembled for_chat(const std::string& model);
  // A run's charter as it was when the run began. The script of a scripted model is read again.
  Result<RunnableAgent> from_pinned(const PinnedCharter& pinned);

 private:
  // A run may have pinned another model than its charter chooses: a fork can. Empty: the charter's.
  Assembled from_text(const std::string& text, const std::string& file,
                      const std::string& directory, const std::string& pinned_model,
                      std::vector<UserPolicy> accepted = {});
  static void add_project_docs(Assembled& assembled);
  struct Source;
  // False: there are faults.
  bool choose_models(const Source& source, const std::string& pinned_model, RunnableAgent& agent,
                     Assembled& assembled);
  // Of every script that the chains name; a script with faults has none.
  OwnTargets load_scripts(const Source& source, const Charter& charter, const ModelChains& chains,
                          std::vector<std::string>& faults) const;
  std::shared_ptr<Executor> load_script(const Source& source, const Charter& charter,
                                        const std::string& literal,
                                        std::vector<std::string>& faults) const;

  Loop& loop_;
  ModelLayer& models_;
  Toolbox toolbox_;
};

}  // namespace pawl
