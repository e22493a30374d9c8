#include "pawl/adapter/backend/session/sandbox_doctor.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "pawl/adapter/backend/sandbox/landlock_rules.h"
#include "pawl/adapter/backend/sandbox/taken_names.h"
#include "pawl/adapter/backend/session/left_names.h"
#include "pawl/adapter/backend/session/process_backend.h"

namespace pawl {
namespace {

using Grade = Finding::Grade;

constexpr std::string_view kDefault = "namespace";

// Backends say "the reason (the remedy)".
Finding describe_refusal(std::string_view name, const std::string& message) {
  const std::size_t at = message.rfind(" (");
  const bool has_remedy = at != std::string::npos && message.ends_with(')');
  Finding finding{name == kDefault ? Grade::warning : Grade::ok, "sandbox", "", ""};
  finding.text = std::string(name) + " cannot be had: " + message.substr(0, at);
  if (has_remedy) finding.remedy = message.substr(at + 2, message.size() - at - 3);
  return finding;
}

Finding examine(std::string_view name, Loop& loop) {
  auto backend = backend::make_backend(name, loop, {});
  if (!backend) return describe_refusal(name, backend.error().message);
  const auto level = (*backend)->probe();
  if (!level) return describe_refusal(name, level.error().message);
  Finding finding{Grade::ok, "sandbox", std::string(name) + " can be had", ""};
  const SandboxReach reach{*level, (*backend)->landlock()};
  if (reach.level == IsolationLevel::namespaces) finding.text += ": " + describe_reach(reach);
  if (name == kDefault) finding.text += "; it is what charters get that say nothing";
  if (*level == IsolationLevel::none) {
    finding.text +=
        "; it isolates nothing: tools have your rights there, can read your keys, and can approve "
        "calls of every run";
  }
  return finding;
}

}  // namespace

std::string describe_reach(const SandboxReach& reach) {
  std::string text(name(reach.level));
  if (reach.level != IsolationLevel::namespaces) return text;
  text += reach.landlock == 0 ? ", no Landlock"
                              : ", Landlock " + std::to_string(reach.landlock) + " of " +
                                    std::to_string(sandbox::kLandlockNewest);
  if (!is_complete(reach)) text += "; mounts, namespaces and seccomp hold what it leaves out";
  return text;
}

bool is_complete(const SandboxReach& reach) {
  return reach.level != IsolationLevel::namespaces || reach.landlock >= sandbox::kLandlockNewest;
}

std::vector<Finding> examine_sandboxes(Loop& loop) {
  std::vector<Finding> findings;
  for (const std::string_view name : {kDefault, std::string_view("landlock"),
                                      std::string_view("container"), std::string_view("local")}) {
    findings.push_back(examine(name, loop));
  }
  return findings;
}

std::vector<Finding> examine_taken(const std::string& data) {
  const std::string directory = data + "/taken";
  std::vector<Finding> findings;
  for (const std::string& sentence : backend::take_left_names(directory)) {
    findings.push_back({Grade::warning, "workspace", sentence, "look at it before it is used"});
  }
  std::error_code none;
  std::size_t runs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory, none)) {
    if (entry.is_directory(none) && entry.path().filename() != "writing") ++runs;
  }
  if (runs == 0) return findings;
  findings.push_back({Grade::ok, "workspace",
                      directory + " keeps what " + std::to_string(runs) +
                          " runs made under protected names, " +
                          std::to_string(backend::taken_bytes(directory)) + " of at most " +
                          std::to_string(backend::kTakenStoreBytesMax) +
                          " bytes; pawl rm removes a run's, and beyond the bound the oldest go",
                      ""});
  return findings;
}

}  // namespace pawl
