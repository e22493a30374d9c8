// What a host may lend to its tools and callbacks for one invocation. All optional.
//
// Implementations are called from the loop thread and from tools' threads: they are thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pawl/base/result.h"

namespace pawl {

// On whose behalf a call is made: the same in every process that drives the run.
struct OnBehalf {
  std::string tenant = "default";
  std::string identity;
  std::string session_id;
  std::string trace_parent;
};

// As commands are told in their environment; what is empty is left out.
inline std::map<std::string, std::string> variables_of(const OnBehalf& whom) {
  std::map<std::string, std::string> variables = {{"PAWL_TENANT", whom.tenant},
                                                  {"PAWL_IDENTITY", whom.identity},
                                                  {"PAWL_SESSION", whom.session_id},
                                                  {"TRACEPARENT", whom.trace_parent}};
  std::erase_if(variables, [](const auto& one) { return one.second.empty(); });
  return variables;
}

class SessionService {
 public:
  virtual ~SessionService() = default;
  virtual Result<std::optional<std::string>> get(const std::string& key) = 0;
  virtual Status set(const std::string& key, std::string value) = 0;
};

class MemoryService {
 public:
  virtual ~MemoryService() = default;
  virtual Status remember(std::string text) = 0;
  virtual Result<std::vector<std::string>> search(const std::string& query,
                                                  std::size_t count_max) = 0;
};

class ArtifactService {
 public:
  virtual ~ArtifactService() = default;
  virtual Status save(const std::string& name, std::string bytes) = 0;
  virtual Result<std::string> load(const std::string& name) = 0;
};

}  // namespace pawl
