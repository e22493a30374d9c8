#include "pawl/kernel/transcript.h"

#include "pawl/json.h"

namespace pawl {
namespace {

Error nothing_there(const Entry& entry, const Record& record) {
  return Error{ErrorCode::corrupt, "record " + std::to_string(record.seq) + " (" +
                                       std::string(name(record.event)) + ") holds no " +
                                       std::string(name(entry.kind))};
}

Message user_message(const Content& text) {
  Message message;
  message.text = text;
  return message;
}

const std::vector<Block>* blocks_of(const Event& event) {
  if (const auto* reply = std::get_if<ModelReplied>(&event)) return &reply->blocks;
  if (const auto* turn = std::get_if<ExternalTurnPushed>(&event)) return &turn->blocks;
  return nullptr;
}

// What a child was told when it was born.
std::optional<Message> input_of_child(const Entry& entry, const Record& record) {
  for (const Decision& decision : record.decisions) {
    const auto* born = std::get_if<ChildBorn>(&decision);
    const bool meant =
        born != nullptr && static_cast<std::uint64_t>(born->instance) == entry.number;
    if (meant && born->input) return user_message(*born->input);
  }
  return std::nullopt;
}

std::optional<Message> opening_in(const Entry& entry, const Record& record) {
  for (const Decision& decision : record.decisions) {
    const auto* entered = std::get_if<NodeEntered>(&decision);
    const bool meant =
        entered != nullptr && static_cast<std::uint64_t>(entered->instance) == entry.number;
    if (meant) return user_message(entered->opening);
  }
  return std::nullopt;
}

// What a child has handed over, behind a line that names it.
std::optional<Message> ceded_in(const Entry& entry, const Record& record) {
  for (const Decision& decision : record.decisions) {
    const auto* ended = std::get_if<InstanceEnded>(&decision);
    const bool meant =
        ended != nullptr && static_cast<std::uint64_t>(ended->instance) == entry.number;
    if (!meant) continue;
    Message message = user_message(ended->content);
    message.heading = ended->text;
    return message;
  }
  if (entry.number != 0) return std::nullopt;
  const auto text = output_of(record);
  if (!text) return std::nullopt;
  return user_message(*text);
}

std::optional<Message> input_of(const Entry& entry, const Event& event) {
  if (const auto* started = std::get_if<RunStarted>(&event)) {
    if (entry.kind == EntryKind::input) {
      Message message = user_message(started->input);
      message.attachments = started->attachments;
      return message;
    }
    if (entry.number >= started->history.size()) return std::nullopt;
    const PastMessage& past = started->history[entry.number];
    if (past.speaker == Speaker::user) return user_message(past.text);
    Message message;
    message.role = Role::assistant;
    message.blocks.emplace_back(TextBlock{past.text});
    return message;
  }
  const auto* spawned = std::get_if<InstanceSpawned>(&event);
  if (spawned != nullptr && entry.kind == EntryKind::input) return user_message(spawned->input);
  return std::nullopt;
}

Message tool_message(CallId call, Content text, Message::Outcome outcome) {
  Message message;
  message.role = Role::tool;
  message.call = call;
  message.text = std::move(text);
  message.outcome = outcome;
  return message;
}

std::optional<Message> result_by_decision(CallId call, const Record& record) {
  for (const Decision& decision : record.decisions) {
    if (const auto* refused = std::get_if<CallRefused>(&decision)) {
      if (refused->call == call) {
        return tool_message(call, Content(refused->text), Message::Outcome::error);
      }
    }
    if (const auto* denied = std::get_if<CallDenied>(&decision)) {
      if (denied->call == call) {
        return tool_message(call, Content(denied->text), Message::Outcome::error);
      }
    }
    if (const auto* answered = std::get_if<CallAnswered>(&decision)) {
      if (answered->call == call) {
        return tool_message(call, Content(answered->text), Message::Outcome::fine);
      }
    }
    if (const auto* lifted = std::get_if<SuspensionLifted>(&decision)) {
      if (lifted->call == call) {
        return tool_message(call, Content(lifted->text), Message::Outcome::fine);
      }
    }
    if (const auto* unknown = std::get_if<CallUnknown>(&decision)) {
      if (unknown->call == call) {
        return tool_message(call, Content(unknown->text), Message::Outcome::error);
      }
    }
  }
  return std::nullopt;
}

std::optional<Message> result_by_event(CallId call, const Event& event) {
  if (const auto* finished = std::get_if<ToolFinished>(&event)) {
    if (finished->call != call) return std::nullopt;
    const bool fine = finished->end == ToolEnd::succeeded;
    return tool_message(call, finished->content,
                        fine ? Message::Outcome::fine : Message::Outcome::error);
  }
  if (const auto* resumed = std::get_if<InstanceResumed>(&event)) {
    const bool told = !resumed->message.empty();
    return tool_message(call, told ? resumed->message : Content("resumed"), Message::Outcome::fine);
  }
  if (const auto* learned = std::get_if<ToolStatusLearned>(&event)) {
    if (learned->call == call) return tool_message(call, learned->content, Message::Outcome::fine);
  }
  if (const auto* resolved = std::get_if<DoubtResolved>(&event)) {
    if (resolved->call == call) return tool_message(call, resolved->result, Message::Outcome::fine);
  }
  if (const auto* decided = std::get_if<CallDecided>(&event)) {
    if (decided->call == call) return tool_message(call, decided->text, Message::Outcome::fine);
  }
  return std::nullopt;
}

std::optional<Message> note_of(const Entry& entry, const Record& record) {
  for (const Decision& decision : record.decisions) {
    const auto* added = std::get_if<NoteAdded>(&decision);
    const bool meant = added != nullptr && static_cast<std::uint64_t>(added->note) == entry.number;
    if (meant) return user_message(Content(added->text));
  }
  return std::nullopt;
}

// Instances whose conversations are cut in one record read the same line about as many messages.
std::optional<Message> trimmed_in(const Entry& entry, const Record& record) {
  for (const Decision& decision : record.decisions) {
    const auto* cut = std::get_if<TranscriptCut>(&decision);
    const bool meant = cut != nullptr && cut->by == CutBy::trim && cut->removed == entry.number;
    if (meant) return user_message(Content(cut->text));
  }
  return std::nullopt;
}

std::optional<Message> message_of_command(const Record& record) {
  for (const Decision& decision : record.decisions) {
    const auto* added = std::get_if<MessageAdded>(&decision);
    if (added != nullptr) return user_message(Content(added->text));
  }
  return std::nullopt;
}

std::optional<Message> message_in(const Entry& entry, const Record& record) {
  switch (entry.kind) {
    case EntryKind::input:
      if (entry.number != 0) return input_of_child(entry, record);
      return input_of(entry, record.event);
    case EntryKind::past:
      return input_of(entry, record.event);
    case EntryKind::opening:
      return opening_in(entry, record);
    case EntryKind::message: {
      const auto* reopened = std::get_if<RunReopened>(&record.event);
      if (reopened != nullptr) return user_message(reopened->message);
      const auto* resumed = std::get_if<InstanceResumed>(&record.event);
      if (resumed != nullptr) return user_message(resumed->message);
      const auto* received = std::get_if<MessageReceived>(&record.event);
      if (received == nullptr) return message_of_command(record);
      Message message = user_message(received->text);
      message.attachments = received->attachments;
      for (const Decision& decision : record.decisions) {
        const auto* replaced = std::get_if<MessageReplaced>(&decision);
        if (replaced != nullptr) message.ending = replaced->text;
      }
      return message;
    }
    case EntryKind::assistant: {
      Message message;
      message.role = Role::assistant;
      if (const auto* began = std::get_if<AgentBegan>(&record.event)) {
        message.blocks.emplace_back(TextBlock{began->replacement});
        return message;
      }
      const std::vector<Block>* blocks = blocks_of(record.event);
      if (blocks == nullptr) return std::nullopt;
      message.blocks = *blocks;
      if (const auto* reply = std::get_if<ModelReplied>(&record.event))
        message.model = reply->model;
      return message;
    }
    case EntryKind::tool_result: {
      const CallId call{entry.number};
      if (auto decided = result_by_decision(call, record)) return decided;
      return result_by_event(call, record.event);
    }
    case EntryKind::note:
      return note_of(entry, record);
    case EntryKind::summary: {
      const auto* compacted = std::get_if<ContextCompacted>(&record.event);
      if (compacted == nullptr) return std::nullopt;
      return user_message(compacted->summary);
    }
    case EntryKind::trimmed:
      return trimmed_in(entry, record);
    case EntryKind::ceded:
      return ceded_in(entry, record);
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(Role value) {
  switch (value) {
    case Role::user:
      return "user";
    case Role::assistant:
      return "assistant";
    case Role::tool:
      return "tool";
  }
  return "user";
}

Result<Message> message_of(const Entry& entry, const Record& record) {
  auto message = message_in(entry, record);
  if (!message) return nothing_there(entry, record);
  return *std::move(message);
}

std::optional<Content> output_of(const Record& record) {
  for (const Decision& decision : record.decisions) {
    if (const auto* ended = std::get_if<FlowEnded>(&decision)) return ended->output;
  }
  return words_in(record.event);
}

std::optional<Content> words_in(const Event& event) {
  if (const auto* finished = std::get_if<RunFinished>(&event)) return finished->output;
  if (const auto* began = std::get_if<AgentBegan>(&event)) return began->replacement;
  if (const auto* tool = std::get_if<ToolFinished>(&event)) {
    return tool->user_reply ? tool->user_reply : tool->content;
  }
  if (const auto* learned = std::get_if<ToolStatusLearned>(&event)) return learned->content;
  if (const auto* resolved = std::get_if<DoubtResolved>(&event)) return resolved->result;
  if (const auto* decided = std::get_if<CallDecided>(&event)) return decided->text;
  const std::vector<Block>* blocks = blocks_of(event);
  if (blocks == nullptr) return std::nullopt;
  std::optional<Content> last;
  for (const Block& block : *blocks) {
    const TextBlock* text = std::get_if<TextBlock>(&block);
    if (text != nullptr && !text->text.empty()) last = text->text;
  }
  return last;
}

std::optional<CallBlock> seat_call(CallId call, const Record& record) {
  const SeatCalled* called = nullptr;
  for (const Decision& one : record.decisions) {
    const auto* seat = std::get_if<SeatCalled>(&one);
    if (seat != nullptr && seat->call == call) called = seat;
  }
  if (called == nullptr) return std::nullopt;
  for (const Decision& one : record.decisions) {
    const auto* born = std::get_if<ChildBorn>(&one);
    if (born == nullptr || born->instance != called->instance || !born->input) continue;
    const std::string* told = born->input->bytes();
    JsonWriter input;
    input.begin_object().field("input", told == nullptr ? "" : *told);
    CallBlock block;
    block.tool = called->tool;
    block.input = Content(input.end_object().take());
    return block;
  }
  return std::nullopt;
}

Result<CallBlock> call_block(const Call& call, const Record& record) {
  if (auto seat = seat_call(call.id, record)) return *std::move(seat);
  const std::vector<Block>* blocks = blocks_of(record.event);
  const CallBlock* block = blocks != nullptr && call.index < blocks->size()
                               ? std::get_if<CallBlock>(&(*blocks)[call.index])
                               : nullptr;
  if (block == nullptr) {
    return Error{ErrorCode::corrupt,
                 "record " + std::to_string(record.seq) + " does not hold " + to_string(call.id)};
  }
  return *block;
}

std::string_view step_warning(const Rules& rules, std::uint64_t steps_left) {
  const auto& warnings = rules.say.steps_left;
  return steps_left < warnings.size() ? warnings[steps_left] : "";
}

}  // namespace pawl
