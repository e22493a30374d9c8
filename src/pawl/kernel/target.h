// The models a run may use, in the order they are tried, as they were when the run began.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/limits.h"
#include "pawl/words.h"

namespace pawl {

inline constexpr std::size_t kTargetsMax = 16;
inline constexpr std::size_t kFailureMessageBytesMax = 300;  // of each target, in the last error

struct ModelTarget {
  std::string literal;  // "anthropic/claude-…"
  Prices prices;
  std::uint64_t context_tokens = 0;  // 0: not known, and not enforced
  std::uint64_t output_tokens = 0;   // the most it writes; 0: not known

  PAWL_FACT(ModelTarget, "model_target",
            PAWL_FIELD(literal) PAWL_FIELD(prices) PAWL_FIELD(context_tokens)
                PAWL_FIELD(output_tokens));
};

// "anthropic" of "anthropic/claude-…"; all of it when there is no slash.
std::string_view provider_of(std::string_view literal);

// How the attempts of a step at one target ended: told when none is left.
struct TargetFailure {
  std::uint32_t target = 0;
  std::uint32_t times = 0;
  ErrorCategory category = ErrorCategory::llm_error;
  std::string message;  // of the last one

  PAWL_FACT(TargetFailure, "target_failure",
            PAWL_FIELD(target) PAWL_FIELD(times) PAWL_FIELD(category) PAWL_FIELD(message));
};

void add_failure(std::vector<TargetFailure>& failures, std::uint32_t target, ErrorCategory category,
                 std::string_view message);
// "anthropic/a: overloaded (2 attempts); openai/b: no such model"; one target alone is not named
// twice.
std::string describe(const std::vector<TargetFailure>& failures,
                     const std::vector<ModelTarget>& targets);

// A conversation that a provider remembers.
struct ProviderSession {
  std::string provider;
  std::string handle;
  std::uint64_t length = 0;  // entries of the transcript that it knows

  PAWL_FACT(ProviderSession, "provider_session",
            PAWL_FIELD(provider) PAWL_FIELD(handle) PAWL_FIELD(length));
};

}  // namespace pawl
