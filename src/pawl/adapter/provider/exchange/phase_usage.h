// What a phase is charged: what the provider said, and an estimate of what it left out. A request
// that the provider refused, or that never reached it, costs nothing. One whose reply was lost is
// charged what the run set aside for it: the provider may have worked to the end.
#pragma once

#include <cstdint>
#include <string>

#include "pawl/executor.h"

namespace pawl::provider {

inline constexpr std::uint64_t kBytesPerTokenEstimate = 4;

class PhaseUsage {
 public:
  // `reserved` is what the run set aside; empty: it set nothing aside.
  void sent(std::uint64_t body_bytes, const Usage& reserved) {
    sent_bytes_ = body_bytes;
    reserved_ = reserved;
  }
  // The provider began to answer.
  void accepted() { accepted_ = true; }
  // Its last word on usage is the final one.
  void completed() { completed_ = true; }
  // The request may have reached the provider, and the end of the reply did not come.
  void lost() { lost_ = true; }

  // Notes what an event says about usage, and bounds it. False: the event says nothing new.
  bool take(PhaseExecutorEvent& event);
  // Fills in what is missing. Says what was estimated; empty: nothing.
  std::string settle();
  const Usage& usage() const { return usage_; }

 private:
  bool estimate_input();
  bool estimate_output();

  std::uint64_t sent_bytes_ = 0;
  std::uint64_t output_bytes_ = 0;
  bool accepted_ = false;
  bool completed_ = false;
  bool lost_ = false;
  Usage reserved_;
  Usage usage_;
};

}  // namespace pawl::provider
