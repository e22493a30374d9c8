// `pawl chat CHARTER`: a conversation that is a durable run, with the tools, approvals and sandbox
// of its charter.
#pragma once

#include <string>

#include "pawl/surface/cli/context.h"

namespace pawl {

// Whether what is given is a charter, and not a text to say.
bool names_charter(const std::string& text);

// Lines of standard input, a turn each, until it ends.
int chat_with_charter(const CliContext& context, const std::string& path);
// Goes on with a conversation that somebody left; empty: the run that was started last.
int chat_with_run(const CliContext& context, const std::string& run_prefix);

}  // namespace pawl
