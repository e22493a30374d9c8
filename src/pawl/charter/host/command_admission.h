// Commands that the host itself runs for an agent run as they were when a person started the agent:
// by their path, after a look at their digests.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pawl/port/file_trust.h"

namespace pawl {

// Asked before a command starts whose files are `paths`: each has the digest it has in `files`, or
// is trusted as it is now. `before` is asked first; may be empty. Null trust: nothing is looked at.
std::function<Status()> admitting(std::shared_ptr<const FileTrust> trust,
                                  const std::vector<HostFile>& files,
                                  const std::vector<std::string>& paths,
                                  std::function<Status()> before);

}  // namespace pawl
