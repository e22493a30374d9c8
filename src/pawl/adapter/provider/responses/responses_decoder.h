// Reads the events, or the body, of POST /v1/responses.
#pragma once

#include <optional>
#include <string>

#include "pawl/adapter/provider/dialect.h"
#include "pawl/adapter/provider/responses/responses_items.h"

namespace pawl::provider {

class ResponsesDecoder final : public ReplyDecoder {
 public:
  ResponsesDecoder(const PhaseExecutionRequest& request, const WireOptions& options)
      : options_(options), items_(request.tools) {}

  Status on_event(std::string_view type, std::string_view data,
                  const PhaseEventSink& sink) override;
  Status on_whole(std::string_view body, const PhaseEventSink& sink) override;
  std::uint64_t progress() const override { return progress_; }
  bool complete() const override { return outcome_.has_value(); }
  std::variant<PhaseReplied, PhaseFailed> finish(const PhaseEventSink& sink) override;

 private:
  using Outcome = std::variant<PhaseReplied, PhaseFailed>;

  Status check_sequence(const Json& event);
  Status on_created();
  Status on_item(std::string_view type, const Json& event, const PhaseEventSink& sink);
  Status on_delta(std::string_view type, const Json& event, const PhaseEventSink& sink);
  Status on_end(const Json& response, std::string_view said, const PhaseEventSink& sink);
  Status on_reply(const Json& response, std::string_view status, const PhaseEventSink& sink);
  PhaseReplied replied(const Json& response, std::string_view status) const;
  void report_usage(const Json& response, const PhaseEventSink& sink);

  const WireOptions options_;
  ResponsesItems items_;
  enum class Began : std::uint8_t { no, yes } began_ = Began::no;
  std::optional<std::uint64_t> last_sequence_;
  std::uint64_t progress_ = 0;
  std::optional<Outcome> outcome_;
};

}  // namespace pawl::provider
