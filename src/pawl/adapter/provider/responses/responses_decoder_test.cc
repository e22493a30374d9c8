#include "pawl/adapter/provider/responses/responses_items.h"

#include <doctest/doctest.h>

#include "pawl/adapter/provider/common/tool_names.h"
#include "pawl/adapter/provider/openai/openai_stream_test.h"

namespace pawl::provider::openai_test {
namespace {

WireOptions options() {
  WireOptions made;
  made.name = "openai";
  made.model.id = "gpt-5";
  return made;
}

DecodedReply decode(const std::vector<std::string>& payloads, const WireOptions& wire = options()) {
  return decode_payloads(*make_responses_dialect(), payloads, wire);
}

const std::string kCreated = R"({"type":"response.created","response":{"id":"resp_1"}})";

std::string added(int index, const std::string& item) {
  return R"({"type":"response.output_item.added","output_index":)" + std::to_string(index) +
         R"(,"item":)" + item + "}";
}
std::string done(int index, const std::string& item) {
  return R"({"type":"response.output_item.done","output_index":)" + std::to_string(index) +
         R"(,"item":)" + item + "}";
}
std::string delta(const std::string& kind, int index, const std::string& text,
                  const std::string& more = "") {
  std::string quoted;
  append_json_string(quoted, text);
  return R"({"type":"response.)" + kind + R"(.delta","output_index":)" + std::to_string(index) +
         R"(,"delta":)" + quoted + more + "}";
}
std::string ended(const std::string& status, const std::string& more = "") {
  return R"({"type":"response.)" + status + R"(","response":{"id":"resp_1","model":"gpt-5-x",)" +
         R"("status":")" + status + R"(","output":[])" + more + "}}";
}
std::string message(const std::string& text) {
  return R"({"type":"message","content":[{"type":"output_text","text":")" + text + R"("}]})";
}
std::string call(const std::string& arguments, const std::string& more = "") {
  std::string quoted;
  append_json_string(quoted, arguments);
  return R"({"type":"function_call","id":"fc_1","call_id":"call_1","name":"look","arguments":)" +
         quoted + more + "}";
}
const std::string kMessage = R"({"type":"message","content":[]})";
const std::string kCall = R"({"type":"function_call","name":"look","arguments":""})";

}  // namespace

TEST_CASE("Responses: items come out in the order of their index, however they arrive") {
  const DecodedReply decoded = decode(
      {kCreated, added(0, kMessage), added(1, kCall), delta("function_call_arguments", 1, "{}"),
       done(1, call("{}")), delta("output_text", 0, "I lo"), delta("output_text", 0, "ok."),
       done(0, message("I look.")), ended("completed")});

  const std::vector<ReplyBlock> expected{{"text", "I look."}, {"call", "{}", "look", "call_1"}};
  CHECK(decoded.blocks == expected);
  CHECK(decoded.input_deltas == "{}");
  REQUIRE(decoded.replied() != nullptr);
  CHECK(decoded.replied()->stop == ReplyStop::tool_use);
  CHECK(decoded.replied()->model == "openai/gpt-5-x");
}

TEST_CASE("Responses: what an item finally is counts, not its deltas") {
  const DecodedReply more = decode({kCreated, added(0, kMessage), delta("output_text", 0, "Hel"),
                                    done(0, message("Hello")), ended("completed")});
  CHECK(more.text() == "Hello");
  const DecodedReply other = decode({kCreated, added(0, kMessage), delta("output_text", 0, "Hex"),
                                     done(0, message("Hello")), ended("completed")});
  CHECK(other.protocol_error == "a finished message is not what its deltas said");
  const DecodedReply arguments =
      decode({kCreated, added(0, kCall), delta("function_call_arguments", 0, R"({"a":)"),
              done(0, call(R"({"a":1})")), ended("completed")});
  CHECK(arguments.blocks == std::vector<ReplyBlock>{{"call", R"({"a":1})", "look", "call_1"}});
}

TEST_CASE("Responses: no arguments are an empty object, and names come back as Pawl has them") {
  const DecodedReply decoded =
      decode({kCreated, added(0, kCall),
              done(0, R"({"type":"function_call","call_id":"c","name":")" +
                          wire_tool_name("files.read") + R"(","arguments":""})"),
              ended("completed")});
  CHECK(decoded.blocks == std::vector<ReplyBlock>{{"call", "{}", "files.read", "c"}});
}

TEST_CASE("Responses: a thought keeps its paragraphs and goes back as the item that it was") {
  const std::string item =
      R"({"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"One"},)"
      R"({"type":"summary_text","text":"Two"}],"encrypted_content":"gAAA"})";
  const DecodedReply decoded =
      decode({kCreated, added(0, R"({"type":"reasoning","summary":[]})"),
              delta("reasoning_summary_text", 0, "O", R"(,"summary_index":0)"),
              delta("reasoning_summary_text", 0, "ne", R"(,"summary_index":0)"),
              delta("reasoning_summary_text", 0, "Two", R"(,"summary_index":1)"), done(0, item),
              added(1, kMessage), done(1, message("ok")), ended("completed")});
  const std::vector<ReplyBlock> expected{{"thinking", "One\n\nTwo", "", "", item}, {"text", "ok"}};
  CHECK(decoded.blocks == expected);
}

TEST_CASE("Responses: a thought that nobody could read again has no signature") {
  const DecodedReply decoded =
      decode({kCreated, added(0, R"({"type":"reasoning","summary":[]})"),
              done(0, R"({"type":"reasoning","id":"rs_1","summary":[]})"), added(1, kMessage),
              done(1, message("ok")), ended("completed")});
  CHECK(decoded.blocks == std::vector<ReplyBlock>{{"text", "ok"}});
}

TEST_CASE("Responses: items of unknown kinds are passed on whole") {
  const std::string item = R"({"type":"custom_tool_call","call_id":"c","name":"sql","input":"x"})";
  const DecodedReply decoded =
      decode({kCreated, added(0, R"({"type":"custom_tool_call","input":""})"),
              delta("custom_tool_call_input", 0, "x"), done(0, item), ended("completed")});
  CHECK(decoded.blocks == std::vector<ReplyBlock>{{"raw", item}});
  REQUIRE(decoded.replied() != nullptr);
  CHECK(decoded.replied()->stop == ReplyStop::end_turn);
}

TEST_CASE("Responses: a refusal is text, and said to be one") {
  const DecodedReply decoded = decode(
      {kCreated, added(0, kMessage), delta("refusal", 0, "I can"), delta("refusal", 0, "not"),
       done(0, R"({"type":"message","content":[{"type":"refusal","refusal":"I cannot"}]})"),
       ended("completed")});
  CHECK(decoded.text() == "I cannot");
  REQUIRE(decoded.replied() != nullptr);
  CHECK(decoded.replied()->stop == ReplyStop::refusal);
  CHECK(decoded.replied()->detail == "I cannot");
}

TEST_CASE("sc-P24: Responses: a reply that was cut short proposes nothing that was cut") {
  const std::string why = R"(,"incomplete_details":{"reason":"max_output_tokens"})";
  for (const auto& last : {std::vector<std::string>{delta("function_call_arguments", 0, R"({"a)")},
                           {done(0, call(R"({"a)"))},
                           {done(0, call("{}", R"(,"status":"incomplete")"))}}) {
    std::vector<std::string> events{kCreated, added(0, kCall)};
    events.insert(events.end(), last.begin(), last.end());
    events.push_back(ended("incomplete", why));
    const DecodedReply decoded = decode(events);
    CHECK(decoded.blocks.empty());
    REQUIRE(decoded.replied() != nullptr);
    CHECK(decoded.replied()->stop == ReplyStop::max_tokens);
  }
  const DecodedReply filtered =
      decode({kCreated, added(0, kMessage), delta("output_text", 0, "half"),
              ended("incomplete", R"(,"incomplete_details":{"reason":"content_filter"})")});
  CHECK(filtered.text() == "half");
  REQUIRE(filtered.replied() != nullptr);
  CHECK(filtered.replied()->stop == ReplyStop::refusal);
}

TEST_CASE("sc-P12: Responses: arguments that end in their middle are never proposed") {
  const DecodedReply finished =
      decode({kCreated, added(0, kCall), done(0, call(R"({"path":"/tm)")), ended("completed")});
  CHECK(finished.blocks.empty());
  CHECK(finished.protocol_error == "the arguments of a call end in their middle");
  const DecodedReply closed =
      decode({kCreated, added(0, kCall), delta("function_call_arguments", 0, R"({"path":"/tm)")});
  CHECK(closed.blocks.empty());
  REQUIRE(closed.failed() != nullptr);
  CHECK(closed.failed()->category == ErrorCategory::network_error);
  CHECK(closed.failed()->kind == FailureKind::transient);
}

TEST_CASE("sc-P03: Responses: an error after a finished call: it is not proposed") {
  const DecodedReply decoded =
      decode({kCreated, added(0, kCall), done(0, call("{}")), added(1, kMessage),
              delta("output_text", 1, "after"),
              R"({"type":"error","code":"server_is_overloaded","message":"x"})"});
  CHECK(decoded.blocks.empty());
  REQUIRE(decoded.failed() != nullptr);
  CHECK(decoded.failed()->kind == FailureKind::overloaded);
}

TEST_CASE("sc-P15: Responses: events that come twice or in the wrong order break the protocol") {
  const std::vector<std::string> item{added(0, kMessage), done(0, message("x"))};
  const std::vector<std::vector<std::string>> streams{
      {kCreated, kCreated},
      {kCreated, added(0, kMessage), added(0, kMessage)},
      {kCreated, item[0], item[1], item[1]},
      {kCreated, item[0], item[1], item[0]},
      {kCreated, item[0], item[1], delta("output_text", 0, "y")},
      {kCreated, delta("output_text", 0, "y")},
      {kCreated, added(0, kCall), delta("output_text", 0, "y")},
      {kCreated, added(0, kCall), done(0, message("x"))},
      {R"({"type":"response.created","sequence_number":4})",
       R"({"type":"response.in_progress","sequence_number":4})"},
      {R"({"type":"response.created","sequence_number":4})",
       R"({"type":"response.in_progress","sequence_number":3})"},
      {kCreated, R"({"type":"response.completed"})"},
      {kCreated, added(0, kCall), ended("completed")},
      {kCreated, R"({"type":"response.output_item.added","item":{}})"},
      {kCreated, "{"},
      {kCreated, "[]"},
      {kCreated, R"({"type":"a","type":"b"})"},
  };
  for (std::size_t i = 0; i < streams.size(); ++i) {
    CAPTURE(i);
    CHECK(!decode(streams[i]).protocol_error.empty());
  }
}

TEST_CASE("sc-P17: Responses: a reply has only so many items") {
  std::vector<std::string> events{kCreated};
  for (int i = 0; i <= static_cast<int>(kOutputItemsMax); ++i) events.push_back(added(i, kMessage));
  CHECK(decode(events).protocol_error == "more items than a response may have");
}

TEST_CASE("sc-P19: Responses: JSON that is too deep breaks the protocol, not the stack") {
  CHECK(!decode({kCreated, std::string(100'000, '[')}).protocol_error.empty());
}

TEST_CASE("Responses: keep-alives bring the reply no further") {
  const auto progress = [](const std::vector<std::string>& payloads) {
    return progress_of(*make_responses_dialect(), payloads, options());
  };
  CHECK(progress({kCreated, R"({"type":"response.in_progress"})", R"({"type":"keepalive"})",
                  R"({"type":"response.queued"})", "[DONE]"}) == 1);
  CHECK(progress({kCreated, added(0, kMessage), delta("output_text", 0, "a"),
                  R"({"type":"response.web_search_call.searching"})"}) == 4);
  CHECK(progress({kCreated, added(0, kMessage), delta("output_text", 0, ""),
                  delta("output_text", 0, "")}) == 2);
}

TEST_CASE("Responses: errors after a good status are understood") {
  struct Row {
    std::string event;
    ErrorCategory category;
    FailureKind kind;
  };
  const auto failed = [](const std::string& error) {
    return R"({"type":"response.failed","response":{"status":"failed","error":)" + error + "}}";
  };
  const Row rows[] = {
      {R"({"type":"error","code":"server_error","message":"oops"})", ErrorCategory::llm_error,
       FailureKind::transient},
      {R"({"type":"error","error":{"type":"insufficient_quota","message":"x"}})",
       ErrorCategory::quota_exceeded, FailureKind::permanent},
      {failed(R"({"code":"rate_limit_exceeded","message":"x"})"), ErrorCategory::llm_error,
       FailureKind::rate_limited},
      {failed(R"({"code":"server_is_overloaded","message":"x"})"), ErrorCategory::llm_error,
       FailureKind::overloaded},
      {failed(R"({"code":"context_length_exceeded","message":"x"})"),
       ErrorCategory::validation_error, FailureKind::unsupported},
      {failed(R"({"code":"previous_response_not_found","message":"x"})"),
       ErrorCategory::validation_error, FailureKind::session_lost},
      {failed("null"), ErrorCategory::llm_error, FailureKind::transient},
      {ended("cancelled"), ErrorCategory::llm_error, FailureKind::transient},
  };
  for (const Row& row : rows) {
    CAPTURE(row.event);
    const DecodedReply decoded = decode({kCreated, row.event});
    REQUIRE(decoded.failed() != nullptr);
    CHECK(decoded.failed()->category == row.category);
    CHECK(decoded.failed()->kind == row.kind);
  }
}

TEST_CASE("Responses: what is cached is inside of the input, and nonsense is not reported") {
  const auto usage = [](const std::string& text) {
    return reported_usage(decode({kCreated, added(0, kMessage), done(0, message("x")),
                                  ended("completed", R"(,"usage":)" + text)}));
  };
  CHECK(usage(R"({"input_tokens":100,"output_tokens":7,"input_tokens_details":)"
              R"({"cached_tokens":60,"cache_write_tokens":30}})") == Usage{10, 7, 60, 30});
  CHECK(usage(R"({"input_tokens":5,"output_tokens":1,"input_tokens_details":)"
              R"({"cached_tokens":60}})") == Usage{0, 1, 5, 0});
  CHECK(usage(R"({"input_tokens":-5,"output_tokens":1})") == std::nullopt);
  CHECK(usage(R"({"input_tokens":5,"output_tokens":9223372036854775808})") == std::nullopt);
  CHECK(usage("null") == std::nullopt);
}

TEST_CASE("Responses: a session is the id of a response that was kept") {
  WireOptions session = options();
  session.resume = WireOptions::Resume::session;
  const std::vector<std::string> events{kCreated, added(0, kMessage), done(0, message("x")),
                                        ended("completed")};
  CHECK(decode(events, session).session == "resp_1");
  CHECK(decode(events).session.empty());
}

TEST_CASE("Responses: a reply without an answer is empty, and one that never ends is cut off") {
  const DecodedReply nothing = decode({kCreated, ended("completed")});
  REQUIRE(nothing.failed() != nullptr);
  CHECK(nothing.failed()->kind == FailureKind::empty);
  const DecodedReply cut = decode({kCreated, added(0, kMessage), done(0, message("x")), "[DONE]"});
  REQUIRE(cut.failed() != nullptr);
  CHECK(cut.failed()->kind == FailureKind::transient);
}

TEST_CASE("Responses: items that only the last event has are not lost") {
  const DecodedReply decoded = decode(
      {kCreated, R"({"type":"response.completed","response":{"status":"completed","output":[)" +
                     message("all") + "," + call("{}") + "]}}"});
  const std::vector<ReplyBlock> expected{{"text", "all"}, {"call", "{}", "look", "call_1"}};
  CHECK(decoded.blocks == expected);
}

TEST_CASE("Responses: items that are numbered from one do not come twice") {
  const DecodedReply decoded =
      decode({kCreated, added(1, kCall), done(1, call("{}")),
              R"({"type":"response.completed","response":{"status":"completed","output":[)" +
                  call("{}") + "]}}"});
  CHECK(decoded.blocks == std::vector<ReplyBlock>{{"call", "{}", "look", "call_1"}});
}

TEST_CASE("Responses: an item that only the last event finishes is finished") {
  const DecodedReply decoded =
      decode({kCreated, added(0, kMessage), delta("output_text", 0, "al"),
              R"({"type":"response.completed","response":{"status":"completed","output":[)" +
                  message("all") + "]}}"});
  CHECK(decoded.text() == "all");
}

TEST_CASE("Responses: a body that is not over is none") {
  const DecodedReply decoded =
      decode_whole(*make_responses_dialect(), {}, options(), R"({"status":"queued","output":[]})");
  CHECK(decoded.protocol_error == "a response that is not over: queued");
}

}  // namespace pawl::provider::openai_test
