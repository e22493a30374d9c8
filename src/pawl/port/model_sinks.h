// Where a host is told about model calls: for its books, and for its traces. Optional.
//
// Called on the loop thread, after the fact: a sink decides nothing, and one that throws or is slow
// changes no run. What it is given holds no secret and no content.
#pragma once

#include <cstdint>
#include <string>

#include "pawl/ids.h"
#include "pawl/limits.h"

namespace pawl {

struct ModelUse {
  std::string tenant;
  RunId run;
  std::string target;  // "provider/model"
  Usage usage;
  std::uint64_t cost_pico = 0;
  std::string currency;
};

class UsageSink {
 public:
  virtual ~UsageSink() = default;
  // Once for each call that was made, whatever became of it.
  virtual void used(const ModelUse& use) = 0;
};

struct ModelCall {
  std::string tenant;
  RunId run;
  std::uint64_t step = 0;
  std::uint32_t attempt = 1;
  std::string target;
};

struct ModelCallEnd {
  enum class Outcome : std::uint8_t { replied, failed, aborted } outcome = Outcome::replied;
  std::string failure;          // the kind of a failure: "rate_limited"
  std::int64_t waited_ms = 0;   // for its turn
  std::int64_t elapsed_ms = 0;  // from its turn to its end
};

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void began(const ModelCall& call) = 0;
  virtual void ended(const ModelCall& call, const ModelCallEnd& end) = 0;
};

}  // namespace pawl
