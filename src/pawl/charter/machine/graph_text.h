// A charter's graph: its nodes and how an instance comes from one to another, its phases and their
// order, its agents. The same bytes for the same charter.
#pragma once

#include <string>

#include "pawl/charter/charter.h"

namespace pawl {

// A line for each node, phase and agent, and for each way out of it.
std::string graph_text(const Charter& charter);
// The same as a digraph in the language of Graphviz.
std::string graph_dot(const Charter& charter);

}  // namespace pawl
