// Containers by podman and by docker: one command line for both, as far as they agree.
//
// podman gets a place of its own for all that it notes down, and a pid namespace that dies with the
// host: nothing of it is left that could be found by another podman. docker's containers belong to
// its daemon. They are removed by name, and those of hosts that were killed when the next one
// starts.
#pragma once

#include "pawl/adapter/backend/session/container.h"

namespace pawl::backend {

Result<std::unique_ptr<Container>> make_command_container(ContainerEngine engine,
                                                          const ContainerPlan& plan);

// unavailable: the daemon does not answer.
Status check_docker();
void sweep_docker();

}  // namespace pawl::backend
