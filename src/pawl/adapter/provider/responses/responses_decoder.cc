// Reads the events, or the body, of POST /v1/responses.
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "pawl/adapter/provider/dialect.h"
#include "pawl/adapter/provider/exchange/failures.h"
#include "pawl/adapter/provider/openai/openai_failure.h"
#include "pawl/adapter/provider/openai/openai_wire.h"
#include "pawl/adapter/provider/responses/responses_items.h"

namespace pawl::provider {
namespace {

class ResponsesDecoder final : public ReplyDecoder {
 public:
  ResponsesDecoder(const std::vector<ToolSpec>& tools, const WireOptions& options)
      : options_(options), items_(tools) {}

  Status on_event(std::string_view type, std::string_view data,
                  const PhaseEventSink& sink) override;
  Status on_whole(std::string_view body, const PhaseEventSink& sink) override;
  std::uint64_t progress() const override { return progress_; }
  bool complete() const override { return outcome_.has_value(); }
  std::variant<PhaseReplied, PhaseFailed> finish(const PhaseEventSink& sink) override;

 private:
  using Outcome = std::variant<PhaseReplied, PhaseFailed>;

  Status check_sequence(const FlatValue& event);
  Status on_created();
  Status on_item(std::string_view type, const FlatValue& event, const PhaseEventSink& sink);
  Status on_delta(std::string_view type, const FlatValue& event, const PhaseEventSink& sink);
  Status on_end(const FlatValue& response, std::string_view said, const PhaseEventSink& sink);
  Status on_reply(const FlatValue& response, std::string_view status, const PhaseEventSink& sink);
  PhaseReplied replied(const FlatValue& response, std::string_view status) const;
  void report_usage(const FlatValue& response, const PhaseEventSink& sink);

  const WireOptions options_;
  FlatJson json_;  // of the event that is read
  ResponsesItems items_;
  enum class Began : std::uint8_t { no, yes } began_ = Began::no;
  std::optional<std::uint64_t> last_sequence_;
  std::uint64_t progress_ = 0;
  std::optional<Outcome> outcome_;
};

using Kind = ResponsesItems::Kind;

Error broken(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

struct DeltaType {
  std::string_view type;
  Kind kind;
  std::string_view part_key;  // what tells the parts of an item apart; empty: nothing has to
};
constexpr std::array<DeltaType, 5> kDeltas{{
    {"response.output_text.delta", Kind::message, ""},
    {"response.refusal.delta", Kind::message, ""},
    {"response.reasoning_summary_text.delta", Kind::reasoning, "summary_index"},
    {"response.reasoning_text.delta", Kind::reasoning, "content_index"},
    {"response.function_call_arguments.delta", Kind::function_call, ""},
}};

// What says that the connection lives, and no more.
bool is_keep_alive(std::string_view type) {
  return !type.starts_with("response.") || type == "response.in_progress" ||
         type == "response.queued";
}

bool is_end(std::string_view type) {
  return type == "response.completed" || type == "response.incomplete" ||
         type == "response.failed" || type == "response.cancelled";
}

Status ResponsesDecoder::on_event(std::string_view type, std::string_view data,
                                  const PhaseEventSink& sink) {
  if (complete() || data == "[DONE]") return ok();
  PAWL_TRY(const FlatValue event, read_wire_json(json_, data));
  if (const std::string_view said = event.text("type"); !said.empty()) type = said;
  PAWL_CHECK(check_sequence(event));
  const FlatValue error = member_of(event, "error");
  if (type == "error" || (type.empty() && error)) {
    outcome_ = openai_failure((error ? error : event).to_json());
    return ok();
  }
  const FlatValue delta = event.find("delta");
  const bool is_empty = type.ends_with(".delta") && delta.is_string() && delta.text().empty();
  if (!is_keep_alive(type) && !is_empty) ++progress_;
  if (type == "response.created") return on_created();
  if (type == "response.output_item.added" || type == "response.output_item.done") {
    return on_item(type, event, sink);
  }
  if (is_end(type)) {
    const FlatValue response = event.find("response");
    if (!response.is_object()) return broken(std::string(type) + " is bare");
    return on_end(response, type.substr(type.find('.') + 1), sink);
  }
  return type.ends_with(".delta") ? on_delta(type, event, sink) : ok();
}

// Numbers grow. One that does not belongs to another stream, or came before.
Status ResponsesDecoder::check_sequence(const FlatValue& event) {
  const FlatValue number = member_of(event, "sequence_number");
  if (!number) return ok();
  const auto sequence = number.as_uint64();
  // Servers that do not count send -1 with every event.
  if (!sequence && number.as_int64() == -1) return ok();
  if (!sequence) return broken("a sequence number is none");
  if (last_sequence_ && *sequence <= *last_sequence_) {
    return broken("an event came twice or out of order");
  }
  last_sequence_ = *sequence;
  return ok();
}

Status ResponsesDecoder::on_created() {
  if (began_ == Began::yes) return broken("a second response begins inside the first");
  began_ = Began::yes;
  return ok();
}

Status ResponsesDecoder::on_item(std::string_view type, const FlatValue& event,
                                 const PhaseEventSink& sink) {
  const auto at = event.find("output_index").as_uint64();
  const FlatValue item = event.find("item");
  if (!at || !item.is_object()) return broken("an item without its index");
  return type.ends_with(".added") ? items_.added(*at, item.text("type"))
                                  : items_.done(*at, item.to_json(), sink);
}

Status ResponsesDecoder::on_delta(std::string_view type, const FlatValue& event,
                                  const PhaseEventSink& sink) {
  for (const DeltaType& known : kDeltas) {
    if (known.type != type) continue;
    const auto at = event.find("output_index").as_uint64();
    const FlatValue text = event.find("delta");
    if (!at || !text.is_string()) return broken("a delta without its text");
    std::string part(known.part_key);
    if (const FlatValue number = event.find(known.part_key)) part += write_json(number.to_json());
    return items_.delta(*at, known.kind, part, text.text(), sink);
  }
  return ok();  // of an item that will be whole at its end
}

Status ResponsesDecoder::on_whole(std::string_view body, const PhaseEventSink& sink) {
  PAWL_TRY(const FlatValue response, read_wire_json(json_, body));
  ++progress_;
  if (const FlatValue error = member_of(response, "error")) {
    report_usage(response, sink);
    outcome_ = openai_failure(error.to_json());
    return ok();
  }
  return on_end(response, "", sink);
}

// `said` is the status by the name of the event; what the response says goes before it.
Status ResponsesDecoder::on_end(const FlatValue& response, std::string_view said,
                                const PhaseEventSink& sink) {
  report_usage(response, sink);
  std::string_view status = response.text("status");
  if (status.empty()) status = said;
  if (status == "completed" || status == "incomplete") return on_reply(response, status, sink);
  const FlatValue error = member_of(response, "error");
  if (status == "failed" && error) {
    outcome_ = openai_failure(error.to_json());
  } else if (status == "failed" || status == "cancelled") {
    outcome_ = PhaseFailed{ErrorCategory::llm_error,
                           "the response was ended by the provider: " + std::string(status)};
  } else {
    return broken("a response that is not over: " + std::string(status));
  }
  return ok();
}

Status ResponsesDecoder::on_reply(const FlatValue& response, std::string_view status,
                                  const PhaseEventSink& sink) {
  const auto ending = status == "completed" ? ResponsesItems::Ending::completed
                                            : ResponsesItems::Ending::incomplete;
  const FlatValue output = response.find("output");
  PAWL_CHECK(
      items_.close(output.is_array() ? output.to_json().array() : JsonArray(), ending, sink));
  PhaseReplied reply = replied(response, status);
  if (reply.stop == ReplyStop::end_turn && !items_.answered()) {
    outcome_ = empty_reply();
    return ok();
  }
  const std::string_view id = response.text("id");
  if (options_.resume == WireOptions::Resume::session && !id.empty()) {
    sink(SessionStarted{std::string(id)});
  }
  outcome_ = std::move(reply);
  return ok();
}

PhaseReplied ResponsesDecoder::replied(const FlatValue& response, std::string_view status) const {
  PhaseReplied reply;
  reply.model = answered_by(options_, response.text("model"));
  if (status == "completed") {
    if (items_.calls() > 0) reply.stop = ReplyStop::tool_use;
    if (items_.refused()) {
      reply.stop = ReplyStop::refusal;
      reply.detail = items_.refusal();
    }
    return reply;
  }
  const std::string_view reason = response.find("incomplete_details").text("reason");
  reply.stop = reason == "content_filter" ? ReplyStop::refusal : ReplyStop::max_tokens;
  reply.detail = reason;
  return reply;
}

// A usage that cannot be true is not reported: the executor's estimate stands in its place.
void ResponsesDecoder::report_usage(const FlatValue& response, const PhaseEventSink& sink) {
  const FlatValue usage = member_of(response, "usage");
  if (!usage) return;
  const FlatValue details = usage.find("input_tokens_details");
  const auto input = count_of(usage, "input_tokens");
  const auto output = count_of(usage, "output_tokens");
  const auto cached = count_of(details, "cached_tokens");
  const auto written = count_of(details, "cache_write_tokens");
  if (!input || !output || !cached || !written) return;
  sink(UsageReported{usage_of({*input, *output, *cached, *written})});
}

std::variant<PhaseReplied, PhaseFailed> ResponsesDecoder::finish(const PhaseEventSink&) {
  if (outcome_) return *outcome_;
  return PhaseFailed{ErrorCategory::network_error,
                     "the response ended before the provider said that it is complete"};
}

}  // namespace

std::unique_ptr<ReplyDecoder> make_responses_decoder(const std::vector<ToolSpec>& tools,
                                                     const WireOptions& options) {
  return std::make_unique<ResponsesDecoder>(tools, options);
}

}  // namespace pawl::provider
