// Recorded responses, whole and in all pieces, against what their last event says of them.
#include <doctest/doctest.h>

#include "pawl/adapter/provider/openai_cuts_test.h"
#include "pawl/adapter/provider/openai_decoded_test.h"
#include "pawl/adapter/provider/openai_traffic_test.h"
#include "pawl/adapter/provider/responses_decoder.h"

namespace pawl::provider::openai_test {
namespace {

WireOptions options() {
  WireOptions made;
  made.name = "openai";
  made.model.id = "asked-for";
  return made;
}

std::unique_ptr<ReplyDecoder> decoder() {
  return std::make_unique<ResponsesDecoder>(PhaseExecutionRequest{}, options());
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
void expect_item(const Json& item, std::vector<DecodedBlock>& blocks) {
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

Decoded expected_of(const Json& response, const std::vector<Json>& done_items) {
  Decoded expected;
  const JsonArray& output = response.find("output")->array();
  for (const Json& item : done_items.empty() ? output : done_items) {
    expect_item(item, expected.blocks);
  }
  std::vector<DecodedBlock> at_end;
  for (const Json& item : output) expect_item(item, at_end);
  // The provider encrypts anew each time it says an item; all else stays the same.
  for (std::size_t i = 0; i < at_end.size(); ++i) {
    const DecodedBlock& block = expected.blocks.at(i);
    CHECK(at_end[i].kind == block.kind);
    CHECK((block.kind == "raw" || at_end[i].text == block.text));
    CHECK(at_end[i].id == block.id);
  }
  const Json& usage = *response.find("usage");
  const Json& details = *usage.find("input_tokens_details");
  const std::uint64_t cached = number_at(details, "cached_tokens");
  expected.usage = Usage{number_at(usage, "input_tokens") - cached,
                         number_at(usage, "output_tokens"), cached, 0};
  PhaseReplied reply;
  for (const DecodedBlock& block : expected.blocks) {
    if (block.kind == "call") reply.stop = ReplyStop::tool_use;
  }
  reply.model = "openai/" + *response.find_string("model");
  expected.replied = reply;
  return expected;
}

Decoded expected_of_stream(const std::vector<std::string>& payloads) {
  std::vector<Json> items;
  for (const std::string& payload : payloads) {
    const Json event = parse_json(payload).value();
    const std::string& type = *event.find_string("type");
    if (type == "response.output_item.done") items.push_back(*event.find("item"));
    if (type == "response.completed") return expected_of(*event.find("response"), items);
  }
  FAIL("no end");
  return {};
}

}  // namespace

TEST_CASE("recorded Responses streams give what their last event says, however they are cut") {
  std::size_t streams = 0;
  for (const char* folder : {"openai-responses", "openai-compat"}) {
    for (const Recorded& recorded : recorded_traffic(folder, "/responses")) {
      if (recorded.shape != Recorded::Shape::stream) continue;
      CAPTURE(recorded.file);
      const Decoded expected = expected_of_stream(payloads_of(recorded.body));
      check_all_cuts(decoder, recorded.body, expected.shown());
      ++streams;
    }
  }
  MESSAGE(streams << " recorded streams");
}

TEST_CASE("recorded Responses bodies give what they say, and recorded errors are understood") {
  for (const Recorded& recorded : recorded_traffic("openai-responses", "/v1/responses")) {
    if (recorded.shape != Recorded::Shape::whole) continue;
    CAPTURE(recorded.file);
    const auto reader = decoder();
    if (recorded.status == 200) {
      const Decoded expected = expected_of(parse_json(recorded.body).value(), {});
      CHECK(decode_whole(*reader, recorded.body).shown() == expected.shown());
      continue;
    }
    HttpResponseHead head;
    head.status = recorded.status;
    const PhaseFailed failed = make_responses_dialect()->failure_of(head, recorded.body, 0);
    const bool no_model = recorded.body.find("model_not_found") != std::string::npos;
    CHECK(failed.category == ErrorCategory::validation_error);
    CHECK(failed.kind == (no_model ? FailureKind::model_not_found : FailureKind::permanent));
  }
}

TEST_CASE("streams of chunk files give what their last event says") {
  std::size_t streams = 0;
  for (const auto& path : traffic_files("openai-responses-chunks", ".chunks.txt")) {
    CAPTURE(path.filename().string());
    std::string text = shared_file(path);
    if (!text.ends_with('\n')) text += '\n';
    std::vector<std::vector<std::string>> responses;  // a file may hold several
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      std::string line = text.substr(at, end - at);
      at = end + 1;
      if (line.empty()) continue;
      if (line.find("\"response.created\"") != std::string::npos) responses.emplace_back();
      REQUIRE(!responses.empty());
      responses.back().push_back(std::move(line));
    }
    for (const auto& payloads : responses) {
      const auto reader = decoder();
      const Decoded decoded = decode_stream(*reader, as_events(payloads));
      if (!check_json(payloads.front())) {  // One was edited by hand, and a brace is missing.
        CHECK(decoded.protocol_error.starts_with("not JSON"));
      } else if (payloads.back().find("response.failed") != std::string::npos) {
        REQUIRE(decoded.failed);
        CHECK(decoded.failed->category == ErrorCategory::quota_exceeded);
        CHECK(decoded.failed->kind == FailureKind::permanent);
      } else {
        CHECK(decoded.shown() == expected_of_stream(payloads).shown());
      }
      ++streams;
    }
  }
  MESSAGE(streams << " streams of chunk files");
}

TEST_CASE("a quota that is used up is understood in a body whose status is good") {
  for (const auto& path : traffic_files("openai-responses-json", ".json")) {
    const auto reader = decoder();
    const Decoded decoded = decode_whole(*reader, shared_file(path));
    REQUIRE(decoded.failed);
    CHECK(decoded.failed->category == ErrorCategory::quota_exceeded);
  }
}

}  // namespace pawl::provider::openai_test
