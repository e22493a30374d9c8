#include "pawl/adapter/provider/exchange/exchange.h"

#include <optional>
#include <utility>

#include "pawl/adapter/provider/exchange/failures.h"

namespace pawl::provider {
namespace {

ErrorCode code_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::permanent:
    case FailureKind::model_not_found:
    case FailureKind::unsupported:
      return ErrorCode::invalid_argument;
    default:
      return ErrorCode::unavailable;
  }
}

class Probe final : public std::enable_shared_from_this<Probe> {
 public:
  Probe(std::shared_ptr<const PhaseServices> services, std::function<void(Status)> done)
      : services_(std::move(services)), done_(std::move(done)) {}

  void start(const WireOptions& options) {
    auto request =
        http_request(services_->dialect->probe(options), services_->config, *services_->dialect);
    if (!request) return end_later(request.error());
    debug_request(services_->config, *request);
    HttpHandler handler;
    handler.head = [weak = weak_from_this()](const HttpResponseHead& head) {
      if (const auto self = weak.lock()) self->head_ = head;
    };
    handler.body = [weak = weak_from_this()](std::string_view bytes) {
      const auto self = weak.lock();
      if (!self || self->body_.size() >= kErrorBodyBytesMax) return;
      self->body_ += bytes.substr(0, kErrorBodyBytesMax - self->body_.size());
    };
    handler.done = [weak = weak_from_this()](const HttpEnd& end) {
      if (const auto self = weak.lock()) self->on_done(end);
    };
    http_ = services_->http->start(*std::move(request), std::move(handler));
  }

  void abort() {
    http_.reset();
    end_later(Error{ErrorCode::cancelled, "the test of the connection was given up"});
  }

  void drop() {
    http_.reset();
    done_ = nullptr;
  }

 private:
  void on_done(const HttpEnd& http_end) {
    if (!head_) return end(failed(failure_of_http(http_end)));
    debug_response(services_->config, *head_, body_);
    if (head_->status >= 200 && head_->status <= 299) return end(ok());
    end(failed(services_->dialect->failure_of(*head_, scrubbed(body_, services_->config),
                                              services_->loop.wall_ms())));
  }

  Error failed(PhaseFailed failure) const {
    return {code_of(failure.kind), scrubbed(std::move(failure), services_->config).message};
  }

  void end_later(Status status) {
    services_->loop.post([weak = weak_from_this(), status = std::move(status)] {
      if (const auto self = weak.lock()) self->end(status);
    });
  }

  void end(const Status& status) {
    const auto self = shared_from_this();
    http_.reset();
    if (const auto done = std::exchange(done_, nullptr)) done(status);
  }

  const std::shared_ptr<const PhaseServices> services_;
  std::function<void(Status)> done_;
  std::optional<HttpResponseHead> head_;
  std::string body_;
  std::unique_ptr<HttpOperation> http_;
};

class ProbeOperation final : public Operation {
 public:
  explicit ProbeOperation(std::shared_ptr<Probe> probe) : probe_(std::move(probe)) {}
  ~ProbeOperation() override { probe_->drop(); }
  ProbeOperation(const ProbeOperation&) = delete;
  ProbeOperation& operator=(const ProbeOperation&) = delete;
  void abort() override { probe_->abort(); }

 private:
  std::shared_ptr<Probe> probe_;
};

}  // namespace

std::unique_ptr<Operation> start_probe(std::shared_ptr<const PhaseServices> services,
                                       const WireOptions& options,
                                       std::function<void(Status)> done) {
  auto probe = std::make_shared<Probe>(std::move(services), std::move(done));
  probe->start(options);
  return std::make_unique<ProbeOperation>(std::move(probe));
}

}  // namespace pawl::provider
