// The arguments of a tool call where somebody writes them into a script.
#pragma once

#include "pawl/base/document.h"

namespace pawl {

// At most one of them.
struct CallInput {
  const Node* map = nullptr;  // "input"
  const Node* raw = nullptr;  // "raw_input": a string of any bytes, still to be taken
};

// Neither: none is there, or a fault was told.
CallInput take_call_input(MapReader& reader);

}  // namespace pawl
