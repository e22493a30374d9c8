// What has to be done about refs that the host, a session, or both have moved since they agreed.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "pawl/adapter/backend/git/git_state.h"

namespace pawl::git {

inline constexpr std::size_t kRefsPublishedMax = 256;  // at a time; the others wait

struct RefStep {
  enum class Kind : std::uint8_t {
    publish,  // the session has moved it, from `host` to `own`; an empty one: it is not there
    take_in,  // the host has
    agree,    // both have, to the same
    collide,  // both have, elsewhere
    refuse,   // the session has, and may not: it is checked out in another work tree
  };
  Kind kind = Kind::publish;
  std::string name;
  std::string host;  // the object, empty: none
  std::string own;
};

// `elsewhere`: branches that other work trees of the host have checked out.
std::vector<RefStep> plan_refs(const Refs& agreed, const Refs& host, const Refs& own,
                               const std::set<std::string>& elsewhere);

}  // namespace pawl::git
