// The request of a phase: reads what is new of the conversation, writes it, and keeps the writing
// beside the conversation for the next phase.
#pragma once

#include <memory>
#include <string>

#include "pawl/adapter/provider/common/kept_turns.h"
#include "pawl/adapter/provider/dialect.h"

namespace pawl::provider {

// Of a conversation that nobody has kept, in one callback of the loop: other runs wait meanwhile.
inline constexpr std::size_t kSliceMessagesMax = 48;
inline constexpr std::size_t kSliceBytesMax = 128U << 10U;

class PhaseRequest {
 public:
  // `dialect` outlives this object.
  PhaseRequest(const Dialect& dialect, const PhaseExecutionRequest& request, WireOptions options);

  // Reads and writes a slice. An error is that of encode(), or of the store.
  enum class Progress : std::uint8_t { more, whole };
  Result<Progress> go_on(const PhaseExecutionRequest& request);
  // Once it is whole; the same request each time.
  Result<WireRequest> finish(const PhaseExecutionRequest& request);

 private:
  Status begin(const PhaseExecutionRequest& request);
  Status begin_anew();

  const Dialect& dialect_;
  const WireOptions options_;
  const std::size_t first_;   // see first_message()
  const std::size_t length_;  // of the conversation
  const std::string name_;    // of what is kept
  std::unique_ptr<KeptTurns> turns_;
};

}  // namespace pawl::provider
