// Messages and requests for tests of what dialects write.
#pragma once

#include "pawl/adapter/provider/common/conversation_random_test.h"

namespace pawl::provider {

inline PhaseExecutionRequest request_with(std::vector<Message> messages) {
  PhaseExecutionRequest request;
  request.transcript = make_transcript(std::move(messages));
  return request;
}

inline Message said_by_user(const std::string& text) {
  Message message;
  message.text = Content(text);
  return message;
}

inline Message said_by_model(const std::string& model, std::vector<Block> blocks) {
  Message message;
  message.role = Role::assistant;
  message.model = model;
  message.blocks = std::move(blocks);
  return message;
}

}  // namespace pawl::provider
