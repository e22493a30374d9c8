// Turns the references of a transcript back into messages, given the records they point at.
#pragma once

#include <string>
#include <vector>

#include "pawl/content.h"
#include "pawl/kernel/record.h"
#include "pawl/kernel/run.h"

namespace pawl {

// What `entry` says, from the record it points at. A record that holds no such thing is corrupt.
Result<Message> message_of(const Entry& entry, const Record& record);

// The text a record contributes as an output: what the model (or a callback) wrote last in it.
// nullopt when it wrote none.
std::optional<Content> output_of(const Record& record);

// The same of the event alone: what the instance that it is about has said by it.
std::optional<Content> words_in(const Event& event);

// The call block a call was opened from: a part of the record.
Result<CallBlock> call_block(const Call& call, const Record& record);
// The same of a call that no model has asked for, but a phase that an agent carries out; nullopt:
// the record opens no such call.
std::optional<CallBlock> seat_call(CallId call, const Record& record);

// A graded warning for the last three steps, for one request; empty before.
std::string_view step_warning(const Rules& rules, std::uint64_t steps_left);

}  // namespace pawl
