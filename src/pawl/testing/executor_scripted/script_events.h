// The events that a scripted reply is streamed as.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/executor.h"
#include "pawl/testing.h"

namespace pawl {

// Of the text in one delta.
inline constexpr std::size_t kDeltaBytesMax = 4096;

// `text` in a few pieces, none empty, none over kDeltaBytesMax, none that cuts a character. The
// same text always has the same pieces.
std::vector<std::string> delta_pieces(std::string_view text);

// Everything of the reply but its usage and its end. `number` is that of the model call.
std::vector<PhaseExecutorEvent> speech_events(const ScriptSpeech& speech, std::uint64_t number);

// How many bytes a model would have had to write for this event. A call's input is counted by its
// deltas.
std::uint64_t bytes_written(const PhaseExecutorEvent& event);

}  // namespace pawl
