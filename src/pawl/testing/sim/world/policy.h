// What the simulated house says about calls, and when it changes its mind. Both the gate and the
// oracle ask it: the one to judge, the other to know what was right.
#pragma once

#include <cstdint>
#include <string>

#include "pawl/base/rng.h"
#include "pawl/content.h"
#include "pawl/ids.h"

namespace pawl::sim {

class SimPolicy {
 public:
  // Few, so that a policy comes back: an approval under an older one must not be mistaken.
  static constexpr std::uint64_t kVersions = 3;

  void change(Rng& rng) { version_ = 1 + rng.below(kVersions); }
  std::uint64_t version() const { return version_; }

  // At once; some calls are undecided, and a hook is to be asked.
  CallVerdict first_word(const std::string& tool, const std::string& input) const;
  // With the hook's answer.
  CallVerdict last_word(const std::string& tool, const std::string& input) const;
  // With everything that goes with a verdict: kind of question, expiry, what it is for.
  CallJudgement judgement(CallVerdict verdict, const std::string& tool,
                          const std::string& input) const;
  Digest binding_of(const std::string& tool, const std::string& input) const {
    return binding_under(version_, tool, input);
  }
  static Digest binding_under(std::uint64_t version, const std::string& tool,
                              const std::string& input);

 private:
  std::uint64_t version_ = 1;
};

}  // namespace pawl::sim
