// The view for a terminal: lines as they happen, the model's text as it comes, and below them a
// status line that is drawn again and again.
#pragma once

#include <memory>

#include "pawl/surface/cli/view.h"

namespace pawl {

std::unique_ptr<RunView> make_live_view(const CliContext& context, Workspace& workspace,
                                        const RunState* resumed);

// "step 2 · charge · 0:07 · 123 tokens · 0.01 USD", cut to the width.
struct LiveStatus {
  std::uint64_t step = 0;
  std::vector<std::string> tools;
  std::int64_t elapsed_ms = 0;
  std::uint64_t tokens = 0;
  std::string cost;
};
std::string status_line(const LiveStatus& status, std::size_t columns);

}  // namespace pawl
