// Asks the host's callbacks around one run's effects and reports their answers to the kernel.
#pragma once

#include <vector>

#include "pawl/run/driven_run.h"
#include "pawl/run/operations.h"

namespace pawl {

class DriverCallbacks {
 public:
  DriverCallbacks(DrivenRun& run, Operations& operations) : run_(run), operations_(operations) {}

  void begin_agent(const BeginAgent& effect);
  void end_agent(const EndAgent& effect);

  // Reports what callbacks threw.
  void report_thrown(HookPoint point, const HookAnswer& answer);
  // Reports what callbacks before an effect threw or asked for. True when the run is to stop.
  bool report_stop(HookPoint point, EffectId effect, const HookAnswer& answer);

 private:
  Result<std::string> input_text() const;

  DrivenRun& run_;
  Operations& operations_;
};

}  // namespace pawl
