// The charters of simulated runs. A name is a charter: a run that is taken up by another process
// has the one it began with.
#pragma once

#include <cstdint>
#include <string>

#include "pawl/base/rng.h"
#include "pawl/charter/charter.h"

namespace pawl::sim {

// One node; or several, with workers, children, commands and states.
enum class CharterKind : std::uint8_t { plain, tree };

CharterKind kind_of(const std::string& charter);
// Of a run that somebody starts: mostly a plain one.
std::string pick_charter(Rng& rng);
// Fills in what the charter says beside its tools and its models.
void write_charter(const std::string& name, Charter& charter);

// The commands that every node has: "c0", "c1", and so on.
std::uint64_t command_count();

}  // namespace pawl::sim
