// Sums up a part of a conversation that has become too long. A host may bring its own; by default
// the run's model does it.
//
// `done` is called once, on the loop thread, never from inside compact(); not after the Operation
// is destroyed.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "pawl/port/executor.h"

namespace pawl {

struct CompactionRequest {
  RunId run;
  std::string tenant;
  std::string model;                             // which the run would use
  std::shared_ptr<const Transcript> transcript;  // what is to be summed up, whole
  std::uint64_t summary_tokens_max = 0;
  std::string instructions = {};  // by the run's rules, for a model that writes it
};

struct CompactionOutcome {
  enum class Charge : std::uint8_t {
    usage,     // what was used is known
    reserved,  // the reply was lost: the provider may have worked to the end
  };
  Result<std::string> summary = std::string();
  std::string model;
  Usage usage;  // also of what failed
  Charge charge = Charge::usage;
};

class Compactor {
 public:
  virtual ~Compactor() = default;
  virtual std::unique_ptr<Operation> compact(const CompactionRequest& request,
                                             std::function<void(CompactionOutcome)> done) = 0;
};

}  // namespace pawl
