// Random conversations: everything that can stand in a transcript, in orders that no model would
// think of, written by several providers and cut as compaction cuts.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pawl/adapter/provider/common/random_words_test.h"
#include "pawl/adapter/provider/dialect.h"
#include "pawl/base/rng.h"

namespace pawl::provider {

class RandomConversation {
 public:
  RandomConversation(Rng& rng, const RandomConversationRules& rules)
      : rng_(rng), rules_(rules), words_(rng, rules) {}

  std::vector<Message> messages() {
    const std::uint64_t rounds = rng_.below(8);
    for (std::uint64_t i = 0; i < rounds; ++i) {
      if (!rng_.one_in(4)) user();
      if (!rng_.one_in(5)) assistant();
    }
    if (rng_.one_in(4)) cut();
    return std::move(all_);
  }

 private:
  void user() {
    Message message;
    message.text = Content(words_.text());
    while (!rules_.media_types.empty() && rng_.one_in(5)) {
      message.attachments.push_back({rng_.pick(rules_.media_types),
                                     rng_.one_in(3) ? "" : "file \"" + words_.text(),
                                     Content(std::string("\x89PNG\0bytes", 10))});
    }
    if (rng_.one_in(10)) {
      message.attachments.push_back({"text/plain", "notes.txt", Content(words_.text())});
    }
    all_.push_back(std::move(message));
  }

  std::string model() {
    switch (rng_.below(4)) {
      case 0:
        return "another/model-1";
      case 1:
        return "";
      default:
        return rules_.own + "/model-2";
    }
  }

  CallBlock call() {
    CallBlock made;
    made.tool = words_.tool();
    made.input = Content(words_.input());
    made.provider_id = words_.provider_id();
    if (rng_.one_in(4)) made.signature = "c2lnbmF0dXJl";
    return made;
  }

  void assistant() {
    Message message;
    message.role = Role::assistant;
    message.model = model();
    const bool own = message.model.starts_with(rules_.own + "/");
    std::size_t calls = 0;
    const std::uint64_t blocks = rng_.below(6);
    for (std::uint64_t i = 0; i < blocks; ++i) {
      switch (rng_.below(5)) {
        case 0:
          message.blocks.emplace_back(TextBlock{Content(words_.text())});
          break;
        case 1:
          message.blocks.emplace_back(ThinkingBlock{Content(words_.text()), words_.signature(own)});
          break;
        case 2:
          message.blocks.emplace_back(RawBlock{Content(words_.raw(own))});
          break;
        default:
          message.blocks.emplace_back(call());
          ++calls;
      }
    }
    all_.push_back(std::move(message));
    results(calls);
  }

  // Of all calls, of some, in another order, of none; with words of the user's in between.
  void results(std::size_t calls) {
    std::vector<std::uint64_t> numbers;
    for (std::size_t i = 0; i < calls; ++i) numbers.push_back(++last_call_);
    const bool lossy = rng_.one_in(4);
    for (std::size_t i = numbers.size(); i > 1; --i) {
      if (rng_.one_in(2)) std::swap(numbers[i - 1], numbers[rng_.below(i)]);
    }
    for (const std::uint64_t number : numbers) {
      if (lossy && rng_.one_in(2)) continue;
      result(number);
      if (rng_.one_in(12)) user();
      if (rng_.one_in(20)) result(number);
    }
    if (rng_.one_in(15)) result(rng_.below(50));
  }
  void result(std::uint64_t number) {
    Message message;
    message.role = Role::tool;
    message.call = CallId{number};
    message.text = Content(words_.text());
    if (rng_.one_in(3)) message.outcome = Message::Outcome::error;
    all_.push_back(std::move(message));
  }

  void cut() {
    for (std::uint64_t cuts = 1 + rng_.below(3); cuts > 0 && !all_.empty(); --cuts) {
      const std::size_t from = rng_.one_in(2) ? 0 : rng_.below(all_.size());
      const std::size_t count = std::min(all_.size() - from, std::size_t{1} + rng_.below(4));
      const auto begin = all_.begin() + static_cast<std::ptrdiff_t>(from);
      all_.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
    }
  }

  Rng& rng_;
  const RandomConversationRules& rules_;
  RandomWords words_;
  std::vector<Message> all_;
  std::uint64_t last_call_ = 0;
};

// A request around a random conversation; its tools, prompt, note and session are random, too.
inline PhaseExecutionRequest random_request(Rng& rng, const RandomConversationRules& rules) {
  PhaseExecutionRequest request;
  request.run = RunId{"run-" + std::to_string(rng.below(100))};
  if (!rng.one_in(4)) request.system_prompt = "Be brief.";
  if (rng.one_in(3)) request.note = "Two steps are left.";
  if (!rng.one_in(3)) {
    request.tools.emplace_back().name = "look";
    request.tools.emplace_back().name = "files.read";
    request.tools.back().input_schema =
        R"({"type":"object","properties":{"path":{"type":"string"}},"required":["path"]})";
  }
  auto messages = RandomConversation(rng, rules).messages();
  if (rng.one_in(3)) {
    request.session = "resp_0123";
    request.session_length = rng.below(messages.size() + 1);
  }
  request.transcript = make_transcript(std::move(messages));
  return request;
}

}  // namespace pawl::provider
