// Whether the commands of a charter's tools are there: a slip that a run would notice only when the
// model makes the call.
#pragma once

#include <string>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/charter/charter.h"

namespace pawl {

// One note a command that could not be started now, with its place in the document. Notes and no
// faults: it may be there when it is called. Says nothing of commands in a sandbox, which has files
// and a PATH of its own.
std::vector<Fault> missing_commands(const Charter& charter, const Node& document);

// One note a write root with a git repository at a level where commands can write its hooks and its
// configuration, which whoever uses git there next runs.
std::vector<Fault> unheld_repositories(const Charter& charter, const Node& document);

}  // namespace pawl
