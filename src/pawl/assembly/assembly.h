// From the text of a charter to an agent that can run: the models and tools it names, as adapters.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pawl/assembly/model_layer.h"
#include "pawl/assembly/toolbox.h"
#include "pawl/charter/host/charter_document.h"
#include "pawl/charter/host/pinned_files.h"
#include "pawl/loop.h"
#include "pawl/port/file_trust.h"
#include "pawl/run/agent/agent.h"

namespace pawl {

struct Assembled {
  std::optional<PreparedAgent> agent;         // nullopt when there are faults
  std::vector<std::string> faults;            // "file:line:column: message (remedy)"
  std::vector<std::string> notes = {};        // what the user should know all the same
  std::vector<UntrustedFile> untrusted = {};  // among the faults: a person has to look at them
  // Of a charter file: see resolved_text(). Empty where the file could not be read as YAML.
  std::string resolved = {};
};

// Models that are scripts: the file of a charter's `scripted/FILE`, and what answers when no
// provider is configured.
struct ScriptModels {
  struct Loaded {
    std::shared_ptr<Executor> executor;  // null when there are faults
    std::vector<std::string> faults;     // "file:line:column: message (remedy)"
  };
  std::function<std::shared_ptr<Executor>()> fallback;
  // A path that starts at the charter's directory and stays beneath it.
  std::function<Result<std::string>(const std::string& directory, const std::string& name)> read;
  // `path` is what the faults call it.
  std::function<Loaded(const std::string& text, const std::string& path)> load;
};

// What the program brings.
struct AssemblerOptions {
  ToolboxOptions tools;
  DocumentParser parse;
  ScriptModels scripts;
};

// Made and used on the loop thread; the loop outlives it and what it makes.
class AgentAssembler {
 public:
  AgentAssembler(Loop& loop, ModelLayer& models, AssemblerOptions options)
      : models_(models),
        parse_(std::move(options.parse)),
        scripts_(std::move(options.scripts)),
        toolbox_(loop, std::move(options.tools)) {}

  Assembled from_file(const std::string& path);
  // Without tools, for a conversation; empty: the default model.
  Assembled for_chat(const std::string& model);
  // A run's charter as it was when the run began. The script of a scripted model is read again.
  // Files that may not be read or run are in untrusted(), too.
  Result<PreparedAgent> from_pinned(const PinnedCharter& pinned);
  // Of the agent that was put together last.
  const std::vector<UntrustedFile>& untrusted() const { return untrusted_; }

 private:
  // Beside the text of a charter.
  struct Origin {
    std::string file;       // for messages
    std::string directory;  // where relative paths start
    // A run may have pinned another model than its charter chooses: a fork can. Empty: the
    // charter's.
    std::string pinned_model = {};
    std::vector<UserPolicy> accepted = {};
    std::vector<HostFile> pinned = {};  // what a run began with
    Presence file_sessions = Presence::absent;
    std::vector<HostFile> read = {};  // what the host has read so far
    enum class Includes : std::uint8_t { refused, read } includes = Includes::refused;
  };
  struct Source;
  Assembled from_text(const std::string& text, Origin& origin);
  Assembled put_together(const std::string& text, Origin& origin);
  CharterDocument read_document(const std::string& text, Origin& origin,
                                Assembled& assembled) const;
  void equip(const Source& source, Origin& origin, PreparedAgent& agent, Assembled& assembled);
  std::function<Result<AdhocCharter>(const std::string& input)> adhoc_charters(
      const Charter& charter, const Node& root) const;
  static void add_notes(const Source& source, const PreparedAgent& agent, Assembled& assembled);
  // Adds the files to those that were read. False: one of them may not be.
  bool admit(std::vector<HostFile> files, Origin& origin, Assembled& assembled) const;
  static void add_project_docs(Assembled& assembled);
  // False: there are faults.
  bool choose_models(const Source& source, Origin& origin, PreparedAgent& agent,
                     Assembled& assembled);
  // Of every script that the chains name; a script with faults has none.
  OwnTargets load_scripts(const Source& source, Origin& origin, const ModelChains& chains,
                          Assembled& assembled) const;
  std::shared_ptr<Executor> load_script(const Source& source, Origin& origin,
                                        const std::string& literal, Assembled& assembled) const;

  ModelLayer& models_;
  DocumentParser parse_;
  ScriptModels scripts_;
  Toolbox toolbox_;
  std::vector<UntrustedFile> untrusted_;
};

}  // namespace pawl
