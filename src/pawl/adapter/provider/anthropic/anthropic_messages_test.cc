#include "pawl/adapter/provider/anthropic/anthropic_messages.h"

#include <doctest/doctest.h>

namespace pawl::provider {
namespace {

Part own_call(const std::string& id) {
  return RawPart{R"({"type":"server_tool_use","id":")" + id + R"(","name":"s","input":{}})"};
}
Part own_result(const std::string& id) {
  return RawPart{R"({"type":"web_search_tool_result","tool_use_id":")" + id + R"("})"};
}

std::vector<Part> fitted(std::vector<Part> parts, const std::vector<Turn>& after) {
  using Place = TurnStyle::Place;
  const WireOptions options;
  Turn turn{Role::assistant, std::move(parts)};
  make_anthropic_turns(options)->fit(turn, after.empty() ? Place::last : Place::inside);
  return turn.parts;
}

const std::vector<Turn> kGoesOn = {{Role::user, {TextPart{"b"}}}};

TEST_CASE("own tools stay with their results, and alone only in a turn that was paused") {
  const std::vector<Part> pair = {own_call("1"), own_result("1"), TextPart{"t"}};
  CHECK(fitted(pair, kGoesOn) == pair);
  CHECK(fitted({own_call("1"), TextPart{"t"}}, kGoesOn) == std::vector<Part>{TextPart{"t"}});
  CHECK(fitted({own_call("1"), TextPart{"t"}}, {}).size() == 2);
  CHECK(fitted({own_result("1"), own_call("1"), TextPart{"t"}}, kGoesOn) ==
        std::vector<Part>{TextPart{"t"}});
  CHECK(fitted({own_call("1"), own_call("1"), own_result("1"), own_result("1")}, kGoesOn) ==
        std::vector<Part>{own_call("1"), own_result("1")});
}

TEST_CASE("thinking needs a signature and something behind it") {
  const ThinkingPart thought{"t", "s"};
  CHECK(fitted({thought, TextPart{"a"}}, kGoesOn).size() == 2);
  CHECK(fitted({ThinkingPart{"t", ""}, TextPart{"a"}}, kGoesOn).size() == 1);
  CHECK(fitted({TextPart{"a"}, thought}, kGoesOn) == std::vector<Part>{TextPart{"a"}});
  CHECK(fitted({thought, RawPart{R"({"type":"redacted_thinking","data":"x"})"}}, kGoesOn) ==
        std::vector<Part>{TextPart{"(no answer)"}});
}

TEST_CASE("a budget is for turns that began with thinking, when tools are answered") {
  const auto may = [](const std::vector<Part>& parts, const Part& last) {
    return may_budget_thinking(
        {{Role::user, {TextPart{"a"}}}, {Role::assistant, parts}, {Role::user, {last}}});
  };
  const CallPart call{"1", "look", "{}", ""};
  const ResultPart answer{"1", "look", "r", Message::Outcome::fine};
  CHECK(may({ThinkingPart{"t", "s"}, call}, answer));
  CHECK_FALSE(may({call}, answer));
  CHECK_FALSE(may({TextPart{"a"}, ThinkingPart{"t", "s"}, call}, answer));
  CHECK(may({TextPart{"a"}}, TextPart{"b"}));
}

std::string written(const std::vector<Turn>& turns, const std::string& note) {
  const WireOptions options;
  const auto style = make_anthropic_turns(options);
  TurnState state;
  std::string all;
  std::vector<TurnEnd> ends;
  for (const Turn& turn : turns) {
    JsonWriter json;
    CHECK(style->write(json, turn, state));
    all += json.take();
    if (turn.role == Role::user) ends.push_back(end_of(turn, all.size()));
  }
  const std::size_t unmarked = ends.size() - std::min<std::size_t>(ends.size(), 2);
  ends.erase(ends.begin(), ends.begin() + static_cast<std::ptrdiff_t>(unmarked));
  std::size_t moved = 0;
  for (const Insertion& mark : cache_marks(ends, note)) {
    all.insert(mark.at + moved, mark.text);
    moved += mark.text.size();
  }
  return all;
}

TEST_CASE("the last two turns of the user's are marked for the cache, before the note") {
  const std::string mark = R"("cache_control":{"type":"ephemeral"})";
  const std::vector<Turn> turns = {{Role::user, {TextPart{"one"}}},
                                   {Role::assistant, {TextPart{"two"}}},
                                   {Role::user, {TextPart{"three"}}},
                                   {Role::assistant, {TextPart{"four"}}},
                                   {Role::user, {TextPart{"five"}, TextPart{"note"}}}};
  const std::string text = written(turns, "note");
  CHECK(text.find(R"("text":"one"})") != std::string::npos);
  CHECK(text.find(R"("text":"three",)" + mark) != std::string::npos);
  CHECK(text.find(R"("text":"five",)" + mark) != std::string::npos);
  CHECK(text.find(R"("text":"note"})") != std::string::npos);
  CHECK(written({{Role::user, {TextPart{"note"}}}}, "note").find(mark) != std::string::npos);
}

TEST_CASE("empty results have no content, failed ones say so") {
  const std::string text =
      written({{Role::user,
                {ResultPart{"1", "look", " \n", Message::Outcome::fine},
                 ResultPart{"2", "look", "no", Message::Outcome::error}, TextPart{"x"}}}},
              "");
  CHECK(text.find(R"({"type":"tool_result","tool_use_id":"1"})") != std::string::npos);
  CHECK(text.find(R"({"type":"tool_result","tool_use_id":"2","content":"no","is_error":true})") !=
        std::string::npos);
}

}  // namespace
}  // namespace pawl::provider
