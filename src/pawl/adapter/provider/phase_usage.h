// What a phase is charged: what the provider said, and an estimate of what it left out. A request
// that was never accepted costs nothing.
#pragma once

#include <cstdint>
#include <string>

#include "pawl/port/executor.h"

namespace pawl::provider {

inline constexpr std::uint64_t kBytesPerTokenEstimate = 4;

class PhaseUsage {
 public:
  void sent(std::uint64_t body_bytes) { sent_bytes_ = body_bytes; }
  // The provider began to answer.
  void accepted() { accepted_ = true; }
  // Its last word on usage is the final one.
  void completed() { completed_ = true; }

  // Notes what an event says about usage, and bounds it. False: the event says nothing new.
  bool take(PhaseExecutorEvent& event);
  // Fills in what is missing. Says what was estimated; empty: nothing.
  std::string settle();
  const Usage& usage() const { return usage_; }

 private:
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t output_bytes_ = 0;
  bool accepted_ = false;
  bool completed_ = false;
  Usage usage_;
};

}  // namespace pawl::provider
