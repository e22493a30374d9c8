// The first layer: a user, mount, network, ipc, uts and cgroup namespace with a root of its own,
// made once a session and held by descriptors. Each process that is started in it gets a pid
// namespace of its own besides.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "pawl/adapter/backend/sandbox/host_identity.h"
#include "pawl/adapter/backend/sandbox/protected_places.h"
#include "pawl/adapter/backend/sandbox/sandbox_plan.h"
#include "pawl/base/descriptor.h"

namespace pawl::sandbox {

inline constexpr std::size_t kNamespaces = 6;

struct Namespaces {
  std::array<Descriptor, kNamespaces> spaces;  // the user namespace first; a hole: the host's
  Descriptor ruleset;                          // Landlock's, for files as seen inside
  Descriptor proxy;  // a listening socket inside, where the network is limited
  enum class Proc : std::uint8_t { own, none } proc = Proc::own;
};

Result<Namespaces> make_namespaces(const SandboxPlan& plan, const HostIdentity& identity,
                                   const ProtectedPlaces& places);

}  // namespace pawl::sandbox
