// A container of runc: its bundle, made from the same plan as a sandbox.
#pragma once

#include "pawl/adapter/backend/session/container.h"

namespace pawl::backend {

Result<std::unique_ptr<Container>> make_bundle(const ContainerPlan& plan);

}  // namespace pawl::backend
