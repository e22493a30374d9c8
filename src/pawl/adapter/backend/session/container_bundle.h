// A container of runc for one process of a session: its bundle, made from the same plan as a
// sandbox, and what has to be taken away after it.
//
// runc is started in a pid namespace of our own making (unshare --kill-child): runc itself leaves
// its container running when it is killed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pawl/adapter/backend/sandbox/own_directory.h"
#include "pawl/adapter/backend/sandbox/placeholders.h"
#include "pawl/adapter/backend/sandbox/sandbox_plan.h"
#include "pawl/base/result.h"

namespace pawl::backend {

// unavailable: no runc, or not root, with the remedy.
Status check_runc();

// Takes away what hosts that were killed have left.
void sweep_containers();

class ContainerBundle {
 public:
  static Result<std::unique_ptr<ContainerBundle>> make(
      const sandbox::SandboxPlan& plan, const std::vector<sandbox::ProtectedPlace>& places,
      const std::vector<std::string>& argv, const std::vector<std::string>& environment);
  ContainerBundle(const ContainerBundle&) = delete;
  ContainerBundle& operator=(const ContainerBundle&) = delete;
  ~ContainerBundle();

  // What to start, outside, in place of the argv.
  std::vector<std::string> command() const;
  // How many processes were killed because the container had no memory left, while it runs.
  std::uint64_t memory_kills() const;

 private:
  ContainerBundle(sandbox::OwnDirectory directory, std::string id)
      : directory_(std::move(directory)), id_(std::move(id)) {}

  sandbox::OwnDirectory directory_;
  std::string id_;
};

}  // namespace pawl::backend
