#include "pawl/adapter/provider/common/conversation.h"

#include <doctest/doctest.h>

#include "pawl/adapter/provider/common/all_turns_test.h"

#include <set>

#include "pawl/adapter/provider/common/conversation_random_test.h"
#include "pawl/adapter/provider/common/random_sampling_test.h"
#include "pawl/json.h"

namespace pawl::provider {
namespace {

Message user(std::string text) {
  Message message;
  message.text = Content(std::move(text));
  return message;
}

Message assistant(std::vector<Block> blocks, std::string model = "own/model") {
  Message message;
  message.role = Role::assistant;
  message.blocks = std::move(blocks);
  message.model = std::move(model);
  return message;
}

Message result(std::uint64_t number, std::string text) {
  Message message;
  message.role = Role::tool;
  message.call = CallId{number};
  message.text = Content(std::move(text));
  return message;
}

Block said(std::string text) {
  return TextBlock{Content(std::move(text))};
}
Block called(std::string id, std::string input = "{}") {
  return CallBlock{"look", Content(std::move(input)), std::move(id), "", "sig"};
}
Block raw(std::string json) {
  return RawBlock{Content(std::move(json))};
}

WireOptions own() {
  WireOptions options;
  options.name = "own";
  return options;
}

std::vector<Turn> turns_of(std::vector<Message> messages, std::string note = "") {
  PhaseExecutionRequest request;
  request.note = std::move(note);
  request.transcript = make_transcript(std::move(messages));
  return conversation_of(request, load_conversation(request).value(), own()).value();
}

TEST_CASE("turns of one role are one turn, blank texts are none") {
  const auto turns = turns_of({user("a"), user(" \n"), user("b"), assistant({said("c"), said("")}),
                               assistant({said("d")}), user("e")});
  CHECK(turns == std::vector<Turn>{{Role::user, {TextPart{"a"}, TextPart{"b"}}},
                                   {Role::assistant, {TextPart{"c"}, TextPart{"d"}}},
                                   {Role::user, {TextPart{"e"}}}});
}

TEST_CASE("what an executor's own tool did is no block of a provider's, nor a pause") {
  const Block native = raw(R"({"type":"native_tool_result","tool":"Bash","outcome":"fine"})");
  CHECK(turns_of({user("a"), assistant({native, said("b")})}) ==
        std::vector<Turn>{{Role::user, {TextPart{"a"}}},
                          {Role::assistant, {TextPart{"b"}}},
                          {Role::user, {TextPart{"(continue)"}}}});
  CHECK(turns_of({user("a"), assistant({native})}) ==
        std::vector<Turn>{{Role::user, {TextPart{"a"}}}});
}

TEST_CASE("a conversation begins and ends with the user") {
  CHECK(turns_of({}) == std::vector<Turn>{{Role::user, {TextPart{"(continue)"}}}});
  CHECK(turns_of({assistant({said("a")})}) ==
        std::vector<Turn>{{Role::user, {TextPart{"(continued)"}}},
                          {Role::assistant, {TextPart{"a"}}},
                          {Role::user, {TextPart{"(continue)"}}}});
  CHECK(turns_of({user("a"), assistant({said("b")})}, "note").back() ==
        Turn{Role::user, {TextPart{"note"}}});
  CHECK(turns_of({user("a")}, "note") ==
        std::vector<Turn>{{Role::user, {TextPart{"a"}, TextPart{"note"}}}});
}

TEST_CASE("results follow their calls in the order of these, before what was said meanwhile") {
  const auto turns = turns_of({user("a"), assistant({called("x"), said("b"), called("y")}),
                               user("hurry"), result(9, "second"), result(8, "first")});
  REQUIRE(turns.size() == 3);
  using Outcome = Message::Outcome;
  CHECK(turns[2] == Turn{Role::user,
                         {ResultPart{"x", "look", "first", Outcome::fine},
                          ResultPart{"y", "look", "second", Outcome::fine}, TextPart{"hurry"}}});
}

TEST_CASE("a call without a result gets one, a result without a call becomes a text") {
  const auto turns = turns_of({result(3, "lost"), user("a"), assistant({called("x")}),
                               assistant({said("b")}), result(4, "late")});
  REQUIRE(turns.size() == 5);
  CHECK(std::get<TextPart>(turns[0].parts[0]).text.find("\nlost") != std::string::npos);
  const auto& missing = std::get<ResultPart>(turns[2].parts[0]);
  CHECK(missing.id == "x");
  CHECK(missing.outcome == Message::Outcome::error);
  CHECK(std::get<TextPart>(turns[4].parts[0]).text.find("\nlate") != std::string::npos);
}

TEST_CASE("thinking, raw blocks, signatures and ids of other providers are left out") {
  const std::vector<Block> blocks = {ThinkingBlock{Content(std::string("t")), "s"},
                                     raw(R"({"type":"x"})"), raw("[]"), raw("no"), called("id_1")};
  const auto mine = turns_of({user("a"), assistant(blocks), result(1, "r")});
  CHECK(mine[1].parts == std::vector<Part>{ThinkingPart{"t", "s"}, RawPart{R"({"type":"x"})"},
                                           CallPart{"id_1", "look", "{}", "sig"}});
  for (const char* model : {"other/model", "own", "owner/model", ""}) {
    const auto foreign = turns_of({user("a"), assistant(blocks, model), result(1, "r")});
    CHECK(foreign[1].parts == std::vector<Part>{CallPart{"call_1", "look", "{}", ""}});
  }
  // A message of which nothing is left is none.
  CHECK(turns_of({user("a"), assistant({blocks[0]}, "other/model"), user("b")}).size() == 1);
}

TEST_CASE("sc-P28: inputs are objects, whatever they were") {
  CHECK(object_input("") == "{}");
  CHECK(object_input(" \n") == "{}");
  CHECK(object_input(R"({ "a" : 1.0 })") == R"({ "a" : 1.0 })");
  for (const char* input : {"[]", "null", "\"rm -rf\"", "3", "{\"a\":", R"({"a":1,"a":2})", "\xFF",
                            "{\"a\":\"\xFF\"}"}) {
    CAPTURE(input);
    const auto json = parse_json(object_input(input));
    REQUIRE(json);
    REQUIRE(json->find_string("_invalid_json") != nullptr);
  }
  CHECK(parse_json(object_input(std::string(100'000, '[')))->is_object());
}

TEST_CASE("a turn that the provider paused is sent as it is") {
  const Block own_call = raw(R"({"type":"server_tool_use","id":"s","name":"web_search"})");
  const auto paused = turns_of({user("a"), assistant({said("b"), own_call})}, "note");
  REQUIRE(paused.size() == 2);
  CHECK(paused[1].role == Role::assistant);
  CHECK(paused[1].parts.size() == 2);
  CHECK(turns_of({user("a"), assistant({own_call}, "other/x"), assistant({said("b")})}).size() ==
        3);
  CHECK(turns_of({user("a"), assistant({own_call}), user("b")}).back().role == Role::user);
}

TEST_CASE("attachments come before the text; those of text become one") {
  Message message = user("look");
  message.attachments = {{"image/png", "a.png", Content(std::string("P"))},
                         {"text/plain", "b.txt", Content(std::string("hello"))}};
  CHECK(turns_of({message})[0].parts == std::vector<Part>{AttachmentPart{"image/png", "a.png", "P"},
                                                          TextPart{"b.txt:\nhello"},
                                                          TextPart{"look"}});
}

TEST_CASE("a session is told only what it does not know, results of its calls included") {
  PhaseExecutionRequest request;
  request.transcript = make_transcript(std::vector<Message>{
      user("a"), assistant({called("x"), called("y")}), result(1, "r"), user("b")});
  request.session = "s";
  request.session_length = 2;
  WireOptions options = own();
  options.resume = WireOptions::Resume::session;
  const auto turns = conversation_of(request, load_conversation(request).value(), options).value();
  REQUIRE(turns.size() == 1);
  REQUIRE(turns[0].parts.size() == 3);
  CHECK(std::get<ResultPart>(turns[0].parts[0]).id == "x");
  CHECK(std::get<ResultPart>(turns[0].parts[1]).outcome == Message::Outcome::error);
  CHECK(turns[0].parts[2] == Part(TextPart{"b"}));
  request.session_length = 4;
  CHECK(conversation_of(request, load_conversation(request).value(), options).value() ==
        std::vector<Turn>{{Role::user, {TextPart{"(continue)"}}}});
  request.session.clear();
  CHECK(conversation_of(request, load_conversation(request).value(), options).value().size() == 3);
}

TEST_CASE("a content that is not whole is refused, and so is a transcript that cannot be read") {
  Message message;
  message.text = Content(BlobRef{});
  PhaseExecutionRequest request;
  request.transcript = make_transcript(std::vector<Message>{message});
  CHECK_FALSE(conversation_of(request, load_conversation(request).value(), own()));
}

// The promises of conversation.h, in its words.
void check_promises(const std::vector<Turn>& turns) {
  REQUIRE_FALSE(turns.empty());
  CHECK(turns.front().role == Role::user);
  std::vector<std::string> open;
  std::set<std::string> ids;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    REQUIRE_FALSE(turns[i].parts.empty());
    if (i > 0) CHECK(turns[i].role != turns[i - 1].role);
    std::vector<std::string> calls;
    std::size_t place = 0;
    for (const Part& part : turns[i].parts) {
      if (const auto* call = std::get_if<CallPart>(&part)) {
        CHECK(turns[i].role == Role::assistant);
        CHECK(ids.insert(call->id).second);
        CHECK(parse_json(call->input)->is_object());
        calls.push_back(call->id);
      }
      if (const auto* answer = std::get_if<ResultPart>(&part)) {
        REQUIRE(place < open.size());
        CHECK(answer->id == open[place++]);
      } else if (turns[i].role == Role::user) {
        CHECK(place == open.size());
      }
      if (const auto* text = std::get_if<TextPart>(&part)) {
        CHECK(text->text.find_first_not_of(" \t\r\n\f\v") != std::string::npos);
      }
    }
    if (turns[i].role == Role::user) CHECK(place == open.size());
    open = std::move(calls);
  }
  CHECK(open.empty());
}

TEST_CASE("what holds for turns holds for those of every transcript") {
  RandomConversationRules rules;
  rules.own = "own";
  rules.own_raw_blocks = {R"({"type":"x"})", R"({"type":"server_tool_use"})", "[]"};
  const std::uint64_t count = transcript_count();
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const PhaseExecutionRequest request = random_request(rng, rules);
    const auto turns = conversation_of(request, load_conversation(request).value(), own());
    REQUIRE(turns);
    check_promises(*turns);
  }
}

}  // namespace
}  // namespace pawl::provider
