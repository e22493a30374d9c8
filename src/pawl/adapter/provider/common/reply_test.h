// What a decoder made of a response, in a form that does not depend on how it came in pieces.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pawl/adapter/provider/dialect.h"
#include "pawl/adapter/provider/exchange/exchange.h"
#include "pawl/base/rng.h"

namespace pawl::provider {

struct ReplyBlock {
  std::string kind;  // text, thinking, call, raw
  std::string text;  // of a call: its input
  std::string tool = {};
  std::string id = {};
  std::string signature = {};

  friend bool operator==(const ReplyBlock&, const ReplyBlock&) = default;
};

inline doctest::String toString(const ReplyBlock& block) {
  const std::string text = "{" + block.kind + "|" + block.text + "|" + block.tool + "|" + block.id +
                           "|" + block.signature + "}";
  return text.c_str();
}

inline doctest::String toString(const std::vector<ReplyBlock>& blocks) {
  doctest::String text;
  for (const ReplyBlock& block : blocks) text += toString(block) + "\n";
  return text;
}

struct DecodedReply {
  std::vector<ReplyBlock> blocks;
  Usage usage;
  std::size_t usage_reports = 0;
  std::string input_deltas;
  std::string session;
  std::variant<PhaseReplied, PhaseFailed> outcome;
  std::string protocol_error;  // empty: none

  const PhaseReplied* replied() const { return std::get_if<PhaseReplied>(&outcome); }
  const PhaseFailed* failed() const { return std::get_if<PhaseFailed>(&outcome); }
  std::string text() const {
    std::string all;
    for (const ReplyBlock& block : blocks) all += block.kind == "text" ? block.text : "";
    return all;
  }
  std::size_t calls() const {
    std::size_t count = 0;
    for (const ReplyBlock& block : blocks) count += block.kind == "call" ? 1U : 0U;
    return count;
  }
};

// Appends deltas to the blocks as ReplyAssembler does: consecutive deltas of one kind are one
// block, and a signature ends it.
class ReplyCollector {
 public:
  explicit ReplyCollector(DecodedReply& reply) : reply_(reply) {}

  void operator()(PhaseExecutorEvent event) {
    if (const auto* text = std::get_if<TextDelta>(&event)) append("text", text->text);
    if (const auto* thought = std::get_if<ThinkingDelta>(&event)) {
      append("thinking", thought->text);
      reply_.blocks.back().signature = thought->signature;
    }
    if (const auto* call = std::get_if<ToolCallProposed>(&event)) {
      reply_.blocks.push_back(
          {"call", call->input, call->tool, call->provider_id, call->signature});
    }
    if (const auto* raw = std::get_if<RawProduced>(&event)) {
      reply_.blocks.push_back({"raw", raw->json});
    }
    if (const auto* delta = std::get_if<ToolInputDelta>(&event)) reply_.input_deltas += delta->text;
    if (const auto* started = std::get_if<SessionStarted>(&event))
      reply_.session = started->session;
    if (const auto* usage = std::get_if<UsageReported>(&event)) {
      reply_.usage = usage->usage;
      ++reply_.usage_reports;
    }
    CHECK_FALSE(std::holds_alternative<PhaseDone>(event));
  }

 private:
  void append(const std::string& kind, const std::string& text) {
    auto& blocks = reply_.blocks;
    const bool goes_on =
        !blocks.empty() && blocks.back().kind == kind && blocks.back().signature.empty();
    if (!goes_on) blocks.push_back({kind, ""});
    blocks.back().text += text;
  }

  DecodedReply& reply_;
};

// What a stream gives when it arrives in the pieces that end at `cuts`.
inline DecodedReply decode_stream(const Dialect& dialect, const PhaseExecutionRequest& request,
                                  const WireOptions& options, std::string_view bytes,
                                  const std::vector<std::size_t>& cuts = {}) {
  DecodedReply reply;
  const PhaseEventSink sink = ReplyCollector(reply);
  const auto decoder = dialect.decoder(request, options);
  const auto splitter = make_sse_splitter();
  const WireEventSink on_event = [&](std::string_view type, std::string_view data) {
    return decoder->on_event(type, data, sink);
  };
  Status status = ok();
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    if (status) status = splitter->feed(bytes.substr(from, cut - from), on_event);
    from = cut;
  }
  if (status) status = splitter->feed(bytes.substr(from), on_event);
  if (status) status = splitter->finish(on_event);
  if (!status) reply.protocol_error = status.error().message;
  reply.outcome = decoder->finish(sink);
  return reply;
}

inline DecodedReply decode_whole(const Dialect& dialect, const PhaseExecutionRequest& request,
                                 const WireOptions& options, std::string_view body) {
  DecodedReply reply;
  const PhaseEventSink sink = ReplyCollector(reply);
  const auto decoder = dialect.decoder(request, options);
  const Status status = decoder->on_whole(body, sink);
  if (!status) reply.protocol_error = status.error().message;
  reply.outcome = decoder->finish(sink);
  return reply;
}

inline void check_same_reply(const DecodedReply& a, const DecodedReply& b) {
  CHECK(a.blocks == b.blocks);
  CHECK(a.usage == b.usage);
  CHECK(a.usage_reports == b.usage_reports);
  CHECK(a.input_deltas == b.input_deltas);
  CHECK(a.protocol_error == b.protocol_error);
  REQUIRE(a.outcome.index() == b.outcome.index());
  if (a.replied() != nullptr) {
    CHECK(a.replied()->stop == b.replied()->stop);
    CHECK(a.replied()->detail == b.replied()->detail);
    CHECK(a.replied()->model == b.replied()->model);
  } else {
    CHECK(a.failed()->message == b.failed()->message);
    CHECK(a.failed()->kind == b.failed()->kind);
  }
}

// Streams up to this length are decoded once for each place they can be cut at; of longer ones
// every place is tried with the splitter, whose events are all that a decoder sees.
inline constexpr std::size_t kDecodedCutsBytesMax = 4'000;

using WireEvents = std::vector<std::pair<std::string, std::string>>;
inline WireEvents wire_events(std::string_view first, std::string_view second) {
  WireEvents events;
  const auto splitter = make_sse_splitter();
  const WireEventSink on_event = [&](std::string_view type, std::string_view data) {
    events.emplace_back(type, data);
    return ok();
  };
  CHECK(splitter->feed(first, on_event));
  CHECK(splitter->feed(second, on_event));
  CHECK(splitter->finish(on_event));
  return events;
}

// Where the events of a stream begin; the last entry is its end.
inline std::vector<std::size_t> event_starts(std::string_view bytes) {
  std::vector<std::size_t> starts{0};
  for (const std::string_view gap : {"\r\n\r\n", "\n\n"}) {
    for (std::size_t at = bytes.find(gap); at != bytes.npos; at = bytes.find(gap, at + 1)) {
      starts.push_back(at + gap.size());
    }
    if (starts.size() > 1) break;
  }
  if (starts.back() != bytes.size()) starts.push_back(bytes.size());
  return starts;
}

// A cut changes nothing beyond the event that it is in and the next one: no more is looked at.
inline void check_event_cuts(std::string_view bytes) {
  const auto starts = event_starts(bytes);
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    const std::size_t end = starts[std::min(i + 2, starts.size() - 1)];
    const std::string_view near = bytes.substr(starts[i], end - starts[i]);
    const WireEvents events = wire_events(near, "");
    for (std::size_t cut = 1; cut <= starts[i + 1] - starts[i]; ++cut) {
      if (wire_events(near.substr(0, cut), near.substr(cut)) != events) {
        FAIL("cut at " << starts[i] + cut);
      }
    }
  }
}

inline void check_cuts(const Dialect& dialect, const PhaseExecutionRequest& request,
                       const WireOptions& options, std::string_view bytes) {
  const DecodedReply whole = decode_stream(dialect, request, options, bytes);
  check_event_cuts(bytes);
  for (std::size_t cut = 1; bytes.size() <= kDecodedCutsBytesMax && cut < bytes.size(); ++cut) {
    check_same_reply(decode_stream(dialect, request, options, bytes, {cut}), whole);
  }
  Rng rng(bytes.size());
  for (int round = 0; round < 20; ++round) {
    std::vector<std::size_t> cuts;
    const std::uint64_t longest = round == 0 ? 1 : 1 + rng.below(200);
    for (std::size_t at = rng.below(longest); at < bytes.size(); at += 1 + rng.below(longest)) {
      cuts.push_back(at);
    }
    check_same_reply(decode_stream(dialect, request, options, bytes, cuts), whole);
  }
}

}  // namespace pawl::provider
