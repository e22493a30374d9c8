// RecordedExchange replies of Anthropic against a second, simpler reading of them.
#include <doctest/doctest.h>

#include <map>

#include "pawl/adapter/provider/common/reply_test.h"
#include "pawl/adapter/provider/common/traffic_test.h"

namespace pawl::provider {
namespace {

WireOptions options() {
  WireOptions options;
  options.name = "anthropic";
  options.base_url = "https://api.anthropic.com";
  options.model.id = "claude";
  return options;
}

struct Expected {
  std::vector<ReplyBlock> blocks;
  Usage usage;
  std::string stop;
  std::string model;
};

// Adds a block as ReplyAssembler does: consecutive texts are one block.
void add_block(Expected& expected, const Json& block) {
  const std::string type = *block.find_string("type");
  const auto text = [&](std::string_view key) {
    const std::string* value = block.find_string(key);
    return value != nullptr ? *value : std::string();
  };
  if (type == "text") {
    if (text("text").empty()) return;
    const bool goes_on = !expected.blocks.empty() && expected.blocks.back().kind == "text";
    if (!goes_on) expected.blocks.push_back({"text", ""});
    expected.blocks.back().text += text("text");
  } else if (type == "thinking") {
    expected.blocks.push_back({"thinking", text("thinking"), "", "", text("signature")});
  } else if (type == "tool_use") {
    const std::string* raw = block.find_string("input");  // see below
    expected.blocks.push_back({"call", raw != nullptr ? *raw : write_json(*block.find("input")),
                               text("name"), text("id")});
  } else {
    expected.blocks.push_back({"raw", write_json(block)});
  }
}

void count(std::uint64_t& to, const Json* usage, std::string_view key) {
  const Json* value = usage != nullptr ? usage->find(key) : nullptr;
  if (value != nullptr && value->is_number()) to = value->as_uint64().value();
}

void read_usage(Expected& expected, const Json* usage) {
  count(expected.usage.input_tokens, usage, "input_tokens");
  count(expected.usage.output_tokens, usage, "output_tokens");
  count(expected.usage.cache_read_tokens, usage, "cache_read_input_tokens");
  count(expected.usage.cache_creation_tokens, usage, "cache_creation_input_tokens");
}

Expected expected_of_whole(const Json& message) {
  Expected expected;
  for (const Json& block : message.find("content")->array()) add_block(expected, block);
  read_usage(expected, message.find("usage"));
  expected.stop = *message.find_string("stop_reason");
  expected.model = *message.find_string("model");
  return expected;
}

void apply_delta(JsonObject& block, std::string& input, const Json& delta) {
  const std::string type = *delta.find_string("type");
  const auto append = [&](const std::string& key) {
    const Json* before = block.find(key);
    block.set(key, (before != nullptr ? before->string() : "") + *delta.find_string(key));
  };
  if (type == "text_delta") append("text");
  if (type == "thinking_delta") append("thinking");
  if (type == "signature_delta") append("signature");
  if (type == "input_json_delta") input += *delta.find_string("partial_json");
}

Expected expected_of_stream(const std::string& stream) {
  Expected expected;
  std::map<std::uint64_t, JsonObject> blocks;
  std::map<std::uint64_t, std::string> inputs;
  // No SSE reader: the recorded streams have one data line an event.
  std::istringstream lines(stream);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("data:")) continue;
    const Json event = parse_json(line.substr(5)).value();
    const std::string type = *event.find_string("type");
    if (type == "message_stop") break;
    const Json* index = event.find("index");
    const std::uint64_t number = index != nullptr ? index->as_uint64().value() : 0;
    if (type == "message_start") {
      expected.model = *event.find("message")->find_string("model");
      read_usage(expected, event.find("message")->find("usage"));
    }
    if (type == "content_block_start") blocks[number] = event.find("content_block")->object();
    if (type == "content_block_delta") {
      apply_delta(blocks[number], inputs[number], *event.find("delta"));
    }
    if (type == "message_delta") {
      expected.stop = *event.find("delta")->find_string("stop_reason");
      read_usage(expected, event.find("usage"));
    }
  }
  for (auto& [number, block] : blocks) {
    const bool ours = *Json(block).find_string("type") == "tool_use";
    // The bytes of our calls are kept; those of the provider's own become JSON again.
    if (!inputs[number].empty()) {
      block.set("input", ours ? Json(inputs[number]) : parse_json(inputs[number]).value());
    }
    add_block(expected, block);
  }
  return expected;
}

ReplyStop stop_of(const std::string& stop) {
  static const std::map<std::string, ReplyStop> kStops = {
      {"end_turn", ReplyStop::end_turn},     {"tool_use", ReplyStop::tool_use},
      {"max_tokens", ReplyStop::max_tokens}, {"stop_sequence", ReplyStop::end_turn},
      {"refusal", ReplyStop::refusal},       {"pause_turn", ReplyStop::pause_turn}};
  return kStops.at(stop);
}

void check_reply(const DecodedReply& reply, const Expected& expected) {
  CHECK(reply.protocol_error == "");
  CHECK(reply.blocks == expected.blocks);
  CHECK(reply.usage == expected.usage);
  REQUIRE(reply.replied() != nullptr);
  CHECK(reply.replied()->stop == stop_of(expected.stop));
  CHECK(reply.replied()->model == "anthropic/" + expected.model);
}

void check_stream(const RecordedExchange& one) {
  INFO(one.file);
  const auto dialect = make_anthropic_dialect();
  check_reply(decode_stream(*dialect, {}, options(), one.stream), expected_of_stream(one.stream));
  check_cuts(*dialect, {}, options(), one.stream);
}

bool is_reply(const RecordedExchange& one) {
  return one.status == 200 && one.url.find("count_tokens") == std::string::npos;
}

TEST_CASE("recorded streams are read as they were meant, wherever they are cut") {
  int streams = 0;
  for (const RecordedExchange& one : recorded("anthropic")) {
    if (!is_reply(one) || one.stream.empty()) continue;
    check_stream(one);
    ++streams;
  }
  MESSAGE(streams << " recorded streams");
}

TEST_CASE("recorded events are read as they were meant, wherever they are cut") {
  for (const RecordedExchange& one : recorded_chunks("anthropic-chunks")) {
    if (one.file.find("spliced") == std::string::npos) check_stream(one);
  }
}

TEST_CASE("recorded whole replies are read as they were meant") {
  const auto dialect = make_anthropic_dialect();
  for (const RecordedExchange& one : recorded("anthropic")) {
    if (!is_reply(one) || one.json.is_null()) continue;
    INFO(one.file);
    check_reply(decode_whole(*dialect, {}, options(), write_json(one.json)),
                expected_of_whole(one.json));
  }
  for (const auto& path : exchange_files("anthropic-json")) {
    INFO(path.string());
    const std::string body = shared_file(path);
    check_reply(decode_whole(*dialect, {}, options(), body),
                expected_of_whole(parse_json(body).value()));
  }
}

TEST_CASE("recorded refusals say why, and recorded errors what they are") {
  const auto dialect = make_anthropic_dialect();
  for (const RecordedExchange& one : recorded_chunks("anthropic-chunks")) {
    if (one.file.find("refusal") == std::string::npos) continue;
    const DecodedReply reply = decode_stream(*dialect, {}, options(), one.stream);
    CHECK(reply.replied()->detail.find("cyber: This request") == 0);
  }
  for (const RecordedExchange& one : recorded("anthropic")) {
    if (one.status != 404) continue;
    HttpResponseHead head;
    head.status = one.status;
    const PhaseFailed failed = dialect->failure_of(head, write_json(one.json), 0);
    CHECK(failed.kind == FailureKind::model_not_found);
    CHECK(failed.message.find("model: claude-") != std::string::npos);
  }
}

TEST_CASE("sc-P15: a reply that is spliced into another is a fault of the protocol") {
  const auto dialect = make_anthropic_dialect();
  for (const RecordedExchange& one : recorded_chunks("anthropic-chunks")) {
    if (one.file.find("spliced") == std::string::npos) continue;
    const DecodedReply reply = decode_stream(*dialect, {}, options(), one.stream);
    CHECK(reply.protocol_error == "a second message_start");
    CHECK(reply.calls() == 0);
    CHECK(reply.failed() != nullptr);
    check_cuts(*dialect, {}, options(), one.stream);
  }
}

}  // namespace
}  // namespace pawl::provider
