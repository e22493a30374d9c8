// The adapters that the program's agents are made of.
#pragma once

#include <functional>
#include <memory>

#include "pawl/assembly/assembly.h"
#include "pawl/loop.h"

namespace pawl {

// `http` gives the client for http_fetch; empty: there is none. `sockets` is for the proxy of
// listed hosts; null: no session has one. The loop outlives what is made.
std::shared_ptr<ToolAdapters> program_tools(Loop& loop, SocketLoop* sockets = nullptr,
                                            std::function<std::shared_ptr<HttpClient>()> http = {});

// YAML, scripts, and program_tools() where the tools have no adapters.
AssemblerOptions program_parts(Loop& loop, ToolboxOptions tools = {});

}  // namespace pawl
