// Recorded responses, whole and in all pieces, against what their last event says of them.
#include <doctest/doctest.h>

#include "pawl/adapter/provider/common/traffic_test.h"
#include "pawl/adapter/provider/openai/openai_stream_test.h"

namespace pawl::provider::openai_test {
namespace {

WireOptions options() {
  WireOptions made;
  made.name = "openai";
  made.model.id = "asked-for";
  return made;
}

std::string texts(const Json* list, const std::string& between) {
  std::string all;
  for (const Json& part : list != nullptr && list->is_array() ? list->array() : JsonArray{}) {
    if (!all.empty()) all += between;
    all += part.find("text")->string();
  }
  return all;
}

// An independent reading: only finished items count.
void expect_item(const Json& item, std::vector<ReplyBlock>& blocks) {
  const std::string& type = *item.find_string("type");
  if (type == "message") {
    blocks.push_back({"text", texts(item.find("content"), "")});
  } else if (type == "function_call") {
    blocks.push_back({"call", *item.find_string("arguments"), *item.find_string("name"),
                      *item.find_string("call_id")});
  } else if (type == "reasoning") {
    const std::string summary = texts(item.find("summary"), "\n\n");
    const std::string content = texts(item.find("content"), "\n\n");
    const std::string* secret = item.find_string("encrypted_content");
    const bool back = (secret != nullptr && !secret->empty()) || !content.empty();
    if (summary.empty() && !back) return;
    blocks.push_back({"thinking", summary.empty() ? content : summary, "", "",
                      back ? write_json(item) : std::string()});
  } else {
    blocks.push_back({"raw", write_json(item)});
  }
}

std::uint64_t number_at(const Json& object, const char* key) {
  const Json* found = object.find(key);
  return found != nullptr ? found->as_uint64().value_or(0) : 0;
}

DecodedReply expected_of(const Json& response, const std::vector<Json>& done_items) {
  DecodedReply expected;
  const JsonArray& output = response.find("output")->array();
  for (const Json& item : done_items.empty() ? output : done_items) {
    expect_item(item, expected.blocks);
  }
  std::vector<ReplyBlock> at_end;
  for (const Json& item : output) expect_item(item, at_end);
  // The provider encrypts anew each time it says an item; all else stays the same.
  for (std::size_t i = 0; i < at_end.size(); ++i) {
    const ReplyBlock& block = expected.blocks.at(i);
    CHECK(at_end[i].kind == block.kind);
    CHECK((block.kind == "raw" || at_end[i].text == block.text));
    CHECK(at_end[i].id == block.id);
  }
  const Json& usage = *response.find("usage");
  const Json& details = *usage.find("input_tokens_details");
  const std::uint64_t cached = number_at(details, "cached_tokens");
  expected.usage_reports = 1;
  expected.usage = Usage{number_at(usage, "input_tokens") - cached,
                         number_at(usage, "output_tokens"), cached, 0};
  PhaseReplied reply;
  for (const ReplyBlock& block : expected.blocks) {
    if (block.kind == "call") reply.stop = ReplyStop::tool_use;
  }
  reply.model = "openai/" + *response.find_string("model");
  expected.outcome = reply;
  return expected;
}

DecodedReply expected_of_stream(const std::string& stream) {
  std::vector<Json> items;
  for (const auto& [name, data] : wire_events(stream, "")) {
    const Json event = parse_json(data).value();
    const std::string& type = *event.find_string("type");
    if (type == "response.output_item.done") items.push_back(*event.find("item"));
    if (type == "response.completed") return expected_of(*event.find("response"), items);
  }
  FAIL("no end");
  return {};
}

// A chunk file may hold several responses, one after the other.
std::vector<std::string> responses_in(const std::string& stream) {
  const std::string first = "event: response.created\n";
  std::vector<std::string> all;
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t next = std::min(stream.find(first, at + 1), stream.size());
    all.push_back(stream.substr(at, next - at));
    at = next;
  }
  return all;
}

void check_expected(const DecodedReply& decoded, DecodedReply expected) {
  expected.input_deltas = decoded.input_deltas;  // not always said
  check_same_reply(decoded, expected);
}

bool is_response(const RecordedExchange& one) {
  return one.url.ends_with("/responses") || one.url.find("/responses/") != one.url.npos;
}

}  // namespace

TEST_CASE("recorded Responses streams give what their last event says, however they are cut") {
  const auto dialect = make_responses_dialect();
  std::size_t streams = 0;
  for (const char* folder : {"openai-responses", "openai-compat"}) {
    for (const RecordedExchange& one : recorded(folder)) {
      if (!is_response(one) || one.stream.empty()) continue;
      CAPTURE(one.file);
      const DecodedReply decoded = decode_stream(*dialect, {}, options(), one.stream);
      check_expected(decoded, expected_of_stream(one.stream));
      check_cuts(*dialect, {}, options(), one.stream);
      ++streams;
    }
  }
  MESSAGE(streams << " recorded streams");
}

TEST_CASE("recorded Responses bodies give what they say, and recorded errors are understood") {
  const auto dialect = make_responses_dialect();
  for (const RecordedExchange& one : recorded("openai-responses")) {
    if (!is_response(one) || one.json.is_null()) continue;
    CAPTURE(one.file);
    const std::string body = write_json(one.json);
    if (one.status == 200) {
      check_expected(decode_whole(*dialect, {}, options(), body), expected_of(one.json, {}));
      continue;
    }
    HttpResponseHead head;
    head.status = one.status;
    const PhaseFailed failed = dialect->failure_of(head, body, 0);
    const bool no_model = body.find("model_not_found") != std::string::npos;
    CHECK(failed.category == ErrorCategory::validation_error);
    CHECK(failed.kind == (no_model ? FailureKind::model_not_found : FailureKind::permanent));
  }
}

TEST_CASE("streams of chunk files give what their last event says") {
  const auto dialect = make_responses_dialect();
  std::size_t streams = 0;
  for (const RecordedExchange& one : recorded_chunks("openai-responses-chunks")) {
    CAPTURE(one.file);
    for (const std::string& stream : responses_in(one.stream)) {
      const DecodedReply decoded = decode_stream(*dialect, {}, options(), stream);
      if (one.file.find("parallel-tool-call-wrapper") != std::string::npos) {
        // Edited by hand: its first event is no JSON.
        CHECK(decoded.protocol_error.starts_with("not JSON"));
      } else if (stream.find("response.failed") != std::string::npos) {
        REQUIRE(decoded.failed() != nullptr);
        CHECK(decoded.failed()->category == ErrorCategory::quota_exceeded);
        CHECK(decoded.failed()->kind == FailureKind::permanent);
      } else {
        check_expected(decoded, expected_of_stream(stream));
      }
      ++streams;
    }
  }
  MESSAGE(streams << " streams of chunk files");
}

TEST_CASE("a quota that is used up is understood in a body whose status is good") {
  for (const auto& path : exchange_files("openai-responses-json")) {
    const DecodedReply decoded =
        decode_whole(*make_responses_dialect(), {}, options(), shared_file(path));
    REQUIRE(decoded.failed() != nullptr);
    CHECK(decoded.failed()->category == ErrorCategory::quota_exceeded);
  }
}

}  // namespace pawl::provider::openai_test
