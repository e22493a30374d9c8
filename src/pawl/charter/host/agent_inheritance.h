// What an agent's charter has of the charter that lists it.
#pragma once

#include <string>

#include "pawl/base/document.h"
#include "pawl/charter/host/charter_document.h"

namespace pawl {

struct CharterPlace {
  const Node& root;
  std::string directory;  // relative paths start there
};

// The child's document with those sections of its parent that it leaves out: sandbox, permissions,
// approvals, guardrails, processors. Paths in them mean what they mean to the parent.
Node with_parents_sections(const CharterPlace& parent, const CharterPlace& child);

// A whole charter, as JSON, for an agent that a model asks for: `said` is JSON with its
// instructions, and what it says of its tools and its model. invalid_argument: it asks for what the
// charter at `parent` does not have.
Result<std::string> charter_asked_for(const CharterPlace& parent, const DocumentParser& parse,
                                      const std::string& said);

}  // namespace pawl
