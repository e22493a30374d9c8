// The section `processors` of a charter:
//
//   processors:
//     input:                         # the run's input and messages to it
//       - secret_scan: { action: block }
//       - pii: { action: mask, kinds: [email, card], priority: 10 }
//       - size: { bytes: 64KiB }
//     output:                        # what tools and models say
//       - pii: { to: [stream, log] }
//       - prompt_injection: { frame: always }
//       - my_own                     # of the host's
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/filter/processors/processor_pipeline.h"

namespace pawl {

inline constexpr std::int64_t kSizeBoundBytesMax = std::int64_t{1} << 30U;

struct Processors {
  ProcessorPipeline input;
  ProcessorPipeline output;
};

// By name. One that has the name of a shipped one takes its place.
using HostProcessors = std::map<std::string, std::shared_ptr<const Processor>, std::less<>>;

// What is wrong becomes a fault, and is left out: a charter with faults does not run.
Processors read_processors(const Node& node, std::vector<Fault>& faults,
                           const HostProcessors& host = {});

}  // namespace pawl
