// The network of a charter's sandbox, as far as the domains that are granted let it reach.
#pragma once

#include "pawl/backend.h"
#include "pawl/gate/charter_permissions.h"

namespace pawl {

// What the network has and every list of domains allows, the charter's and those around it. Where
// there is a list, `full` becomes the hosts of the list: nobody could hold programs to it
// otherwise.
NetworkPolicy network_within(NetworkPolicy network, const CharterPermissions& permissions);

}  // namespace pawl
