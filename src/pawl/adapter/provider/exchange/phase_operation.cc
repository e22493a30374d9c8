#include "pawl/adapter/provider/exchange/exchange.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "pawl/adapter/provider/common/media.h"
#include "pawl/adapter/provider/exchange/failures.h"
#include "pawl/adapter/provider/exchange/phase_request.h"
#include "pawl/adapter/provider/exchange/phase_usage.h"
#include "pawl/base/utf8.h"

namespace pawl::provider {
namespace {

using Framing = WireRequest::Framing;
using Outcome = decltype(PhaseDone::outcome);

constexpr std::int64_t kDrainMaxMs = 100;

// JSON is whole and events are events whatever was asked for; what says neither is taken for what
// was asked for.
Framing framing_of(const HttpResponseHead& head, Framing asked) {
  const std::string* type = head.find("content-type");
  if (type == nullptr) return asked;
  const std::string plain = plain_media_type(*type);
  if (plain == "text/event-stream") return Framing::events;
  if (plain == "application/x-ndjson" || plain == "application/jsonl") return Framing::lines;
  return plain == "application/json" || plain.ends_with("+json") ? Framing::whole : asked;
}

PhaseFailed too_large(std::uint64_t bytes_max) {
  return limit_failure("the reply is larger than " + std::to_string(bytes_max) + " bytes");
}

// What cannot be said to this provider may be said to another; what cannot be read to none.
PhaseFailed failure_of_encoding(const Error& error) {
  PhaseFailed failed;
  failed.message = error.message;
  const bool is_request = error.code == ErrorCode::invalid_argument;
  failed.category = is_request ? ErrorCategory::validation_error : ErrorCategory::kernel_internal;
  failed.kind = is_request ? FailureKind::unsupported : FailureKind::permanent;
  return failed;
}

// What the run or its tenant set aside for the call; empty: nothing.
Usage set_aside(const PhaseExecutionRequest& request) {
  Usage usage = request.reserved;
  const auto& most = request.sampling.max_output_tokens;
  if (most && total_tokens(usage) > 0) usage.output_tokens = *most;
  return usage;
}

// False: the request did not leave this machine, or no server took it.
bool may_have_arrived(HttpFailure failure) {
  switch (failure) {
    case HttpFailure::timeout:
    case HttpFailure::broken:
    case HttpFailure::protocol:
    case HttpFailure::too_large:
      return true;
    case HttpFailure::none:
    case HttpFailure::aborted:
    case HttpFailure::connect:
    case HttpFailure::tls:
    case HttpFailure::invalid:
    case HttpFailure::overloaded:
      return false;
  }
  return true;
}

// Lives as long as its operation, or as a call into it: sinks may destroy the operation.
class Phase final : public std::enable_shared_from_this<Phase> {
 public:
  Phase(std::shared_ptr<const PhaseServices> services, PhaseEventSink sink)
      : services_(std::move(services)),
        sink_(std::make_shared<const PhaseEventSink>(std::move(sink))) {}

  void start(const PhaseExecutionRequest& request, const WireOptions& options) {
    writing_.emplace(dialect(), request, options);
    write(request, options);
  }

  void fail_later(PhaseFailed failed) { end_later(std::move(failed)); }

  void abort() {
    if (stage_ != Stage::running) return;
    const bool sent = http_ != nullptr;
    stop_work();
    stage_ = Stage::ending;
    if (sent && !head_) usage_.accepted();  // As far as is known: the request may have arrived.
    end_later(PhaseAborted{});
  }

  void drop() {
    stop_work();
    stage_ = Stage::ended;
    sink_.reset();
  }

 private:
  enum class Stage : std::uint8_t { running, ending, ended };

  const ProviderConfig& config() const { return services_->config; }
  const Dialect& dialect() const { return *services_->dialect; }

  // Calls a member while this phase lives, unless it is over.
  template <class Call>
  auto guarded(Call call) {
    return [weak = weak_from_this(), call](const auto&... arguments) {
      const auto self = weak.lock();
      if (self && self->stage_ == Stage::running) call(*self, arguments...);
    };
  }

  // A conversation that nobody has kept is long in writing: the rest comes in callbacks of its own.
  void write(const PhaseExecutionRequest& request, const WireOptions& options) {
    const auto progress = writing_->go_on(request);
    if (!progress) return fail_later(failure_of_encoding(progress.error()));
    if (*progress == PhaseRequest::Progress::whole) return send(request, options);
    if (!long_) long_ = std::make_unique<const LongRequest>(LongRequest{request, options});
    services_->loop.post(
        guarded([](Phase& self) { self.write(self.long_->request, self.long_->options); }));
  }

  void send(const PhaseExecutionRequest& request, const WireOptions& options) {
    auto wire = writing_->finish(request);
    writing_.reset();
    if (!wire) return fail_later(failure_of_encoding(wire.error()));
    asked_ = wire->framing;
    usage_.sent(wire->body.size(), set_aside(request));
    decoder_ = dialect().decoder(request, options);
    auto http = http_request(*std::move(wire), config(), dialect());
    if (!http) {
      return fail_later({ErrorCategory::policy_violation, http.error().message, std::nullopt,
                         FailureKind::permanent});
    }
    debug_request(config(), *http);
    arm(config().deadlines.progress_ms);
    http_ = services_->http->start(*std::move(http), handler());
    long_.reset();
  }

  struct LongRequest {
    PhaseExecutionRequest request;
    WireOptions options;
  };

  HttpHandler handler() {
    HttpHandler handler;
    handler.head = guarded([](Phase& self, const HttpResponseHead& head) { self.on_head(head); });
    handler.body = guarded([](Phase& self, std::string_view bytes) { self.on_body(bytes); });
    handler.done = guarded([](Phase& self, const HttpEnd& end) { self.on_done(end); });
    return handler;
  }

  void arm(std::int64_t delay_ms) {
    if (config().deadlines.progress_ms <= 0) return;
    if (progress_at_ms_ < 0) progress_at_ms_ = services_->loop.monotonic_ms();
    timer_ = services_->loop.after(delay_ms, guarded([](Phase& self) { self.on_timer(); }));
  }

  // Keep-alives move bytes and nothing else: this is for what they do not move.
  void on_timer() {
    const std::int64_t limit_ms = config().deadlines.progress_ms;
    const std::int64_t idle_ms = services_->loop.monotonic_ms() - progress_at_ms_;
    if (idle_ms < limit_ms) return arm(limit_ms - idle_ms);
    end_lost(PhaseFailed{ErrorCategory::timeout,
                         "the reply made no progress for " + std::to_string(limit_ms) + " ms",
                         std::nullopt, FailureKind::transient});
  }

  bool is_error() const { return head_->status < 200 || head_->status > 299; }

  void on_head(const HttpResponseHead& head) {
    head_ = head;
    if (is_error()) return;
    usage_.accepted();
    const Framing framing = framing_of(head, asked_);
    if (framing == Framing::events) splitter_ = make_sse_splitter();
    if (framing == Framing::lines) splitter_ = make_line_splitter();
  }

  void on_body(std::string_view bytes) {
    if (!head_ || draining_) return;
    bytes_ += bytes.size();
    if (is_error()) {
      body_ += bytes.substr(0, kErrorBodyBytesMax - std::min(kErrorBodyBytesMax, body_.size()));
      if (bytes_ > kErrorBodyBytesMax) end(error_response());  // Nobody reads more than that.
      return;
    }
    if (bytes_ > config().reply_bytes_max) return end_lost(too_large(config().reply_bytes_max));
    if (splitter_ == nullptr) {
      if (bytes_ > kWireEventBytesMax) return end_lost(too_large(kWireEventBytesMax));
      body_ += bytes;
      return;
    }
    if (config().debug && body_.size() < kDebugBodyBytesMax) body_ += bytes;
    const Status fed = splitter_->feed(bytes, event_sink());
    note_progress();
    follow(fed);
  }

  void on_done(const HttpEnd& http_end) {
    if (draining_) return end_reply();
    if (head_ && is_error()) return end(error_response());
    if (may_have_arrived(http_end.failure)) return end_lost(failure_of_http(http_end));
    if (http_end.failure != HttpFailure::none) return end(failure_of_http(http_end));
    if (!head_) return end(protocol_failure("a response without a head"));
    if (splitter_ != nullptr) {
      follow(splitter_->finish(event_sink()));
    } else {
      follow(decoder_->on_whole(is_valid_utf8(body_) ? body_ : to_valid_utf8(body_), sink()));
    }
    if (stage_ == Stage::running) end_reply();  // Of what was read, complete or not.
  }

  WireEventSink event_sink() {
    return [this](std::string_view type, std::string_view data) -> Status {
      // The sink may have ended it in the middle of a piece.
      if (stage_ != Stage::running || decoder_->complete()) return ok();
      return decoder_->on_event(type, data, sink());
    };
  }

  // Once for all events that came together: a look at the clock for each is for nothing.
  void note_progress() {
    if (std::exchange(progress_, decoder_->progress()) == decoder_->progress()) return;
    progress_at_ms_ = services_->loop.monotonic_ms();
  }

  void follow(const Status& status) {
    if (stage_ != Stage::running) return;
    if (!status) {
      const Error& error = status.error();
      return end_lost(error.code == ErrorCode::limit_exceeded ? limit_failure(error.message)
                                                              : protocol_failure(error.message));
    }
    if (decoder_->complete() && splitter_ != nullptr) drain();
  }

  // The reply is complete, and the end of the response is a moment away: a connection that is read
  // to it can be used again.
  void drain() {
    draining_ = true;
    timer_ = services_->loop.after(kDrainMaxMs, guarded([](Phase& self) { self.end_reply(); }));
  }

  PhaseFailed error_response() const {
    return dialect().failure_of(*head_, scrubbed(body_, config()), services_->loop.wall_ms());
  }

  void end_reply() {
    if (splitter_ != nullptr && !decoder_->complete()) usage_.lost();
    auto outcome = decoder_->finish(sink());
    if (stage_ != Stage::running) return;
    if (auto* failed = std::get_if<PhaseFailed>(&outcome)) return end(std::move(*failed));
    usage_.completed();
    end(std::get<PhaseReplied>(std::move(outcome)));
  }

  // What decoders tell goes through here, until the phase is over.
  PhaseEventSink sink() {
    return [this](PhaseExecutorEvent&& event) {
      if (stage_ != Stage::running) return;
      if (usage_.take(event)) emit(std::move(event));
    };
  }

  void emit(PhaseExecutorEvent&& event) {
    if (const auto sink = sink_) (*sink)(std::move(event));
  }

  void stop_work() {
    timer_.reset();
    http_.reset();
  }

  void end_later(Outcome outcome) {
    services_->loop.post([weak = weak_from_this(), outcome = std::move(outcome)] {
      if (const auto self = weak.lock()) self->end(outcome);
    });
  }

  // The provider may charge for all that it was asked for.
  void end_lost(PhaseFailed failed) {
    usage_.lost();
    end(std::move(failed));
  }

  void end(Outcome outcome) {
    if (std::exchange(stage_, Stage::ended) == Stage::ended) return;
    const auto self = shared_from_this();
    stop_work();
    if (auto* failed = std::get_if<PhaseFailed>(&outcome)) {
      *failed = scrubbed(std::move(*failed), config());
    }
    if (head_) debug_response(config(), *head_, body_);
    if (const std::string note = usage_.settle(); !note.empty()) emit(PhaseLog{note});
    emit(UsageReported{usage_.usage()});
    emit(PhaseDone{std::move(outcome)});
    sink_.reset();
  }

  const std::shared_ptr<const PhaseServices> services_;
  std::shared_ptr<const PhaseEventSink> sink_;
  Stage stage_ = Stage::running;
  std::optional<PhaseRequest> writing_;
  std::unique_ptr<const LongRequest> long_;
  Framing asked_ = Framing::whole;
  std::unique_ptr<ReplyDecoder> decoder_;
  std::unique_ptr<WireSplitter> splitter_;
  std::optional<HttpResponseHead> head_;
  std::string body_;  // of a whole reply or an error; of a stream its beginning, for debugging
  std::uint64_t bytes_ = 0;
  bool draining_ = false;
  std::uint64_t progress_ = 0;
  std::int64_t progress_at_ms_ = -1;
  PhaseUsage usage_;
  std::unique_ptr<Timer> timer_;
  std::unique_ptr<HttpOperation> http_;
};

class PhaseOperation final : public Operation {
 public:
  explicit PhaseOperation(std::shared_ptr<Phase> phase) : phase_(std::move(phase)) {}
  ~PhaseOperation() override { phase_->drop(); }
  PhaseOperation(const PhaseOperation&) = delete;
  PhaseOperation& operator=(const PhaseOperation&) = delete;
  void abort() override { phase_->abort(); }

 private:
  std::shared_ptr<Phase> phase_;
};

}  // namespace

std::unique_ptr<Operation> start_phase(std::shared_ptr<const PhaseServices> services,
                                       const PhaseExecutionRequest& request,
                                       const WireOptions& options, PhaseEventSink sink) {
  auto phase = std::make_shared<Phase>(std::move(services), std::move(sink));
  phase->start(request, options);
  return std::make_unique<PhaseOperation>(std::move(phase));
}

std::unique_ptr<Operation> fail_phase(std::shared_ptr<const PhaseServices> services,
                                      PhaseFailed failed, PhaseEventSink sink) {
  auto phase = std::make_shared<Phase>(std::move(services), std::move(sink));
  phase->fail_later(std::move(failed));
  return std::make_unique<PhaseOperation>(std::move(phase));
}

}  // namespace pawl::provider
