// A container for one process of a session, whichever program makes it: runc, podman or docker.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/adapter/backend/sandbox/protected_places.h"
#include "pawl/adapter/backend/sandbox/sandbox_plan.h"
#include "pawl/result.h"

namespace pawl::backend {

enum class ContainerEngine : std::uint8_t { runc, podman, docker };
std::string_view name(ContainerEngine engine);

// The one that is wanted, or the first that can be used here. unavailable: none, with the reason
// for each and the remedy.
Result<ContainerEngine> find_engine(std::optional<ContainerEngine> wanted);

struct ContainerPlan {
  const sandbox::SandboxPlan& sandbox;
  const std::vector<sandbox::ProtectedPlace>& places;
  const std::vector<std::string>& argv;
  const std::vector<std::string>& environment;
};

// What has to be taken away after a process goes with this object.
class Container {
 public:
  Container() = default;
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;
  virtual ~Container() = default;

  // What to start, outside, in place of the argv.
  virtual std::vector<std::string> command() const = 0;
  // How many processes were killed because the container had no memory left, while it runs.
  virtual std::uint64_t memory_kills() const { return 0; }
};

Result<std::unique_ptr<Container>> make_container(ContainerEngine engine,
                                                  const ContainerPlan& plan);

// Takes away what hosts that were killed have left.
void sweep_containers(ContainerEngine engine);

// --- For the engines ---------------------------------------------------------------------------

// In the host's PATH, or where systems keep such programs. Empty: not there.
std::string find_program(std::string_view name);

struct ContainerMount {
  std::string path;  // the same inside
  std::string source;
  // Hidden: a file becomes an empty device, a directory an empty one (runc lets it be listed).
  enum class Access : std::uint8_t { read, write, hidden } access = Access::read;
  enum class Kind : std::uint8_t {
    other,
    directory,
    passage
  } kind = Kind::other;  // of hidden ones
};
// All of the plan, outer ones first: they would hide what is mounted in them.
std::vector<ContainerMount> mounts_of(const ContainerPlan& plan);

struct ContainerUser {
  std::uint32_t user = 0;
  std::uint32_t group = 0;
};
// The owner of the first write root.
ContainerUser user_of(const sandbox::SandboxPlan& plan);

// A command line that ends with all it has started when it is killed, or its host is.
std::vector<std::string> tied_to_host(std::vector<std::string> command);

// The control groups `id` of all hierarchies, and those beneath them.
void remove_groups(const std::string& id);
std::uint64_t memory_kills_of(const std::string& id);

}  // namespace pawl::backend
