#include "pawl/testing.h"

#include <doctest/doctest.h>

#include "pawl/base/utf8.h"
#include "pawl/testing/executor_scripted/script_events.h"
#include "pawl/testing/executor_scripted/script_usage.h"

namespace pawl {
namespace {

std::string joined(const std::vector<std::string>& pieces) {
  std::string whole;
  for (const std::string& piece : pieces) whole += piece;
  return whole;
}

// A conversation of `length` messages with the same text each.
class Monotone final : public Transcript {
 public:
  Monotone(std::size_t length, std::string text) : length_(length), text_(std::move(text)) {}
  std::size_t length() const override { return length_; }
  Result<std::vector<Message>> load(MessageRange range) const override {
    if (range.first + range.count > length_ || text_.empty()) {
      return Error{ErrorCode::corrupt, "damaged"};
    }
    Message message;
    message.text = Content(text_);
    return std::vector<Message>(range.count, message);
  }

 private:
  std::size_t length_;
  std::string text_;
};

TEST_CASE("a reply is found by its position") {
  Script script{{ScriptReply::say("one"), ScriptReply::say("two")}};
  CHECK(reply_at(script, 0) == &script.replies[0]);
  CHECK(reply_at(script, 1) == &script.replies[1]);
  CHECK(reply_at(script, 2) == nullptr);

  script.after_last = Script::AfterLast::repeats_last;
  CHECK(reply_at(script, 2) == &script.replies[1]);
  CHECK(reply_at(script, 1'000'000) == &script.replies[1]);
  CHECK(reply_at(Script{.replies = {}, .after_last = Script::AfterLast::repeats_last}, 0) ==
        nullptr);
}

TEST_CASE("a script that has run out says so with its name and in words") {
  Script script{{}, "pay"};
  CHECK(ran_out(script, 0) == "the script pay has 0 replies and was asked for a 1st");
  script.replies.resize(1);
  CHECK(ran_out(script, 1) == "the script pay has 1 reply and was asked for a 2nd");
  script.replies.resize(3);
  CHECK(ran_out(script, 3) == "the script pay has 3 replies and was asked for a 4th");
  CHECK(ran_out(script, 2).ends_with("a 3rd"));
  CHECK(ran_out(script, 10).ends_with("a 11th"));
  CHECK(ran_out(script, 21).ends_with("a 22nd"));
  CHECK(ran_out(script, 111).ends_with("a 112th"));
}

TEST_CASE("the number of the call takes the place of its mark") {
  CHECK(numbered("", 7).empty());
  CHECK(numbered("plain {{m}} {n}", 7) == "plain {{m}} {n}");
  CHECK(numbered("{{n}}", 12) == "12");
  CHECK(numbered("a{{n}}b{{n}}{{n}}c", 3) == "a3b33c");
  CHECK(numbered("{{{n}}}", 3) == "{3}");
}

TEST_CASE("pieces of a text are bounded, whole characters, and together the text") {
  CHECK(delta_pieces("").empty());
  CHECK(delta_pieces("Hello.") == std::vector<std::string>{"Hello."});
  CHECK(delta_pieces("All is charged.") == std::vector<std::string>{"All is c", "harged."});
  std::string text;
  while (text.size() < 50'000) text += "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x99\x82";
  const auto pieces = delta_pieces(text);
  CHECK(joined(pieces) == text);
  for (const std::string& piece : pieces) {
    CHECK(piece.size() <= kDeltaBytesMax);
    CHECK(is_valid_utf8(piece));
  }
  CHECK(joined(delta_pieces("\xFF\xFE broken \xC3")) == "\xFF\xFE broken \xC3");
}

TEST_CASE("a text of several parts has a delta for each, and long parts several") {
  ScriptSpeech speech;
  speech.text = {"one ", "", "two", std::string(kDeltaBytesMax + 1, 'x')};
  const auto events = speech_events(speech, 1);
  REQUIRE(events.size() == 4);
  CHECK(std::get<TextDelta>(events[0]).text == "one ");
  CHECK(std::get<TextDelta>(events[1]).text == "two");
  CHECK(std::get<TextDelta>(events[2]).text.size() == kDeltaBytesMax);
  CHECK(std::get<TextDelta>(events[3]).text == "x");
}

TEST_CASE("a speech is streamed as thinking, text, raw blocks and calls") {
  ScriptSpeech speech;
  speech.thinking = {"Hm {{n}}."};
  speech.text = {"Go."};
  speech.raw = {R"({"type":"x"})"};
  speech.calls = {{"charge", R"({"n":{{n}}})"}, {"look", "{}"}};
  const auto events = speech_events(speech, 5);
  REQUIRE(events.size() == 7);
  CHECK(std::get<ThinkingDelta>(events[0]).text == "Hm 5.");
  CHECK(std::get<TextDelta>(events[1]).text == "Go.");
  CHECK(std::get<RawProduced>(events[2]).json == R"({"type":"x"})");
  CHECK(std::get<ToolInputDelta>(events[3]).text == R"({"n":5})");
  CHECK(std::get<ToolCallProposed>(events[4]).input == R"({"n":5})");
  CHECK(std::get<ToolCallProposed>(events[4]).provider_id == "scripted_5_1");
  CHECK(std::get<ToolCallProposed>(events[6]).tool == "look");
  CHECK(std::get<ToolCallProposed>(events[6]).provider_id == "scripted_5_2");
}

TEST_CASE("tokens are a quarter of the bytes, rounded up") {
  CHECK(tokens_of_bytes(0) == 0);
  CHECK(tokens_of_bytes(1) == 1);
  CHECK(tokens_of_bytes(4) == 1);
  CHECK(tokens_of_bytes(5) == 2);
}

TEST_CASE("what is sent is counted within bounds") {
  PhaseExecutionRequest request;
  CHECK(*tokens_sent(request, 0) == 0);
  request.system_prompt = "12345678";
  request.tools.emplace_back().name = "look";  // and its schema, {}
  CHECK(*tokens_sent(request, 0) == 4);

  request.transcript = std::make_shared<Monotone>(3, "abcd");
  CHECK(*tokens_sent(request, 0) == 7);
  CHECK(*tokens_sent(request, 5) == 5);

  request.transcript = std::make_shared<Monotone>(5'000, "abcd");
  CHECK(*tokens_sent(request, 0) == 4 + kMessagesCountedMax);

  request.transcript = std::make_shared<Monotone>(1, "");
  CHECK(tokens_sent(request, 0).error().code == ErrorCode::corrupt);
}

}  // namespace
}  // namespace pawl
