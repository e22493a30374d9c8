#include "pawl/adapter/egress/guarded_client.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "pawl/adapter/egress/redirect.h"

namespace pawl {
namespace {

using egress::Hop;

constexpr const char* kNotFinished = "not finished in time";
constexpr std::size_t kDialsMax = 4;  // of the vetted addresses of one hop, one after the other
constexpr std::int64_t kNeverMs = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kVettingMaxMs = 86'400'000;

// A request on its way over all its hops. It waits for the guard or for a request of the inner
// client; what those call holds it weakly.
class GuardedExchange : public std::enable_shared_from_this<GuardedExchange> {
 public:
  GuardedExchange(Loop& loop, std::shared_ptr<HttpClient> client,
                  std::shared_ptr<EgressGuard> guard, HttpHandler handler)
      : loop_(loop),
        client_(std::move(client)),
        guard_(std::move(guard)),
        handler_(std::make_shared<HttpHandler>(std::move(handler))),
        started_ms_(loop.monotonic_ms()) {}

  void begin(HttpRequest request) {
    auto hop = egress::first_hop(std::move(request));
    if (!hop) return end_later(HttpFailure::invalid, hop.error().message);
    hop_ = *std::move(hop);
    redirects_left_ = std::min(hop_.request.redirects_max, egress::kRedirectsMax);
    vet();
  }

  void abort() {
    if (wish_ == Wish::end) return;
    wish_ = Wish::abort;
    if (inner_) {
      inner_->abort();
    } else {
      let_go();
      end_later(HttpFailure::aborted, "aborted");
    }
  }
  void pause() {
    flow_ = Flow::paused;
    if (inner_) inner_->pause();
  }
  void resume() {
    flow_ = Flow::running;
    if (inner_) inner_->resume();
  }
  void silence() {
    handler_.reset();
    let_go();
  }

 private:
  // The caller may destroy the operation in a callback: what is being called must live through it.
  std::shared_ptr<HttpHandler> handler() const { return handler_; }

  std::int64_t after_start(std::int64_t deadline_ms) const {
    return deadline_ms == 0 || deadline_ms > kNeverMs - started_ms_ ? kNeverMs
                                                                    : started_ms_ + deadline_ms;
  }
  // When the whole of it must have ended or, before that, must have had its head.
  std::int64_t head_due_ms() const {
    const HttpDeadlines& deadlines = hop_.request.deadlines;
    return std::min(after_start(deadlines.total_ms), after_start(deadlines.first_byte_ms));
  }

  void vet() {
    connect_due_ms_ = kNeverMs;
    const std::int64_t now_ms = loop_.monotonic_ms();
    const std::int64_t connect_ms = hop_.request.deadlines.connect_ms;
    if (connect_ms > 0 && connect_ms < kNeverMs - now_ms) connect_due_ms_ = now_ms + connect_ms;
    const HttpFailure late =
        connect_due_ms_ < head_due_ms() ? HttpFailure::connect : HttpFailure::timeout;
    const std::int64_t left_ms = std::min(connect_due_ms_, head_due_ms()) - now_ms;
    timer_ = loop_.after(std::min(left_ms, kVettingMaxMs), [weak = weak_from_this(), late] {
      if (const auto self = weak.lock()) self->on_late(late);
    });
    vetting_ = guard_->vet({hop_.url.host, hop_.url.port},
                           [weak = weak_from_this()](EgressGuard::Answer answer) {
                             if (const auto self = weak.lock()) self->on_vetted(answer);
                           });
  }

  void on_late(HttpFailure failure) {
    let_go();
    end(failure, failure == HttpFailure::connect ? "not connected in time" : kNotFinished);
  }

  void on_vetted(EgressGuard::Answer& answer) {
    let_go();
    if (!answer) {
      const bool refused = answer.error().code == ErrorCode::invalid_argument;
      return end(refused ? HttpFailure::invalid : HttpFailure::connect, answer.error().message);
    }
    addresses_ = std::move(answer->addresses);
    if (addresses_.size() > kDialsMax) addresses_.resize(kDialsMax);
    std::reverse(addresses_.begin(), addresses_.end());  // taken from the back
    dial();
  }

  void dial() {
    const std::int64_t now_ms = loop_.monotonic_ms();
    if (now_ms >= head_due_ms()) return end(HttpFailure::timeout, kNotFinished);
    if (now_ms >= connect_due_ms_) return end(HttpFailure::connect, "not connected in time");
    HttpRequest request = hop_.request;
    request.redirects_max = 0;
    request.address = addresses_.back();
    HttpDeadlines& deadlines = request.deadlines;
    deadlines.total_ms = after_start(deadlines.total_ms) - now_ms;
    if (deadlines.first_byte_ms > 0) deadlines.first_byte_ms = head_due_ms() - now_ms;
    if (connect_due_ms_ != kNeverMs) {
      // Each address has its share, so that one that says nothing leaves time for the next.
      const auto left = static_cast<std::int64_t>(addresses_.size());
      deadlines.connect_ms = std::max<std::int64_t>(1, (connect_due_ms_ - now_ms) / left);
    }
    addresses_.pop_back();
    inner_ = client_->start(std::move(request), inner_handler());
    if (flow_ == Flow::paused) inner_->pause();
  }

  HttpHandler inner_handler() {
    HttpHandler out;
    out.head = [weak = weak_from_this()](const HttpResponseHead& head) {
      if (const auto self = weak.lock()) self->on_head(head);
    };
    out.body = [weak = weak_from_this()](std::string_view bytes) {
      const auto self = weak.lock();
      if (self == nullptr) return;
      if (const auto handler = self->handler(); handler && handler->body) handler->body(bytes);
    };
    out.done = [weak = weak_from_this()](const HttpEnd& value) {
      if (const auto self = weak.lock()) self->on_done(value);
    };
    return out;
  }

  void on_head(HttpResponseHead head) {
    const std::string* const location = head.find("location");
    if (egress::is_redirect(head.status) && location != nullptr && hop_.request.redirects_max > 0 &&
        wish_ == Wish::none) {
      return follow(head.status, *location);
    }
    stage_ = Stage::streaming;
    hop_.request.body = {};  // it is not sent again
    head.redirects = redirects_;
    if (redirects_ > 0) head.url = hop_.url.text();
    if (const auto told = handler(); told && told->head) told->head(head);
  }

  void follow(int status, const std::string& location) {
    inner_.reset();  // its body is nobody's
    if (redirects_left_ == 0) return end_later(HttpFailure::invalid, "too many redirects");
    auto next = egress::next_hop(hop_, status, location);
    if (!next) return end_later(HttpFailure::invalid, next.error().message);
    --redirects_left_;
    ++redirects_;
    hop_ = *std::move(next);
    vet();
  }

  void on_done(const HttpEnd& value) {
    if (value.failure == HttpFailure::connect && stage_ == Stage::before_head) {
      if (wish_ == Wish::abort) return end(HttpFailure::aborted, "aborted");
      // Nothing was sent: another of the vetted addresses may answer.
      if (!addresses_.empty()) {
        inner_.reset();
        return dial();
      }
    }
    tell(value);
  }

  void let_go() {
    timer_.reset();
    vetting_.reset();
    inner_.reset();
  }

  void end(HttpFailure failure, const std::string& reason) {
    const std::string where =
        hop_.url.host.text.empty() ? "" : hop_.request.method + " " + hop_.url.shown() + ": ";
    tell({failure, where + reason});
  }
  void end_later(HttpFailure failure, const std::string& reason) {
    if (wish_ == Wish::end) return;
    wish_ = Wish::end;
    loop_.post([weak = weak_from_this(), failure, reason] {
      if (const auto self = weak.lock()) self->end(failure, reason);
    });
  }
  void tell(const HttpEnd& value) {
    const auto told = std::exchange(handler_, nullptr);
    if (told && told->done) told->done(value);
  }

  Loop& loop_;
  const std::shared_ptr<HttpClient> client_;
  const std::shared_ptr<EgressGuard> guard_;
  std::shared_ptr<HttpHandler> handler_;  // null: nobody wants to know any more
  const std::int64_t started_ms_;
  Hop hop_;
  std::uint32_t redirects_left_ = 0;
  std::uint32_t redirects_ = 0;
  std::vector<IpAddress> addresses_;  // vetted, not dialled yet
  std::int64_t connect_due_ms_ = kNeverMs;
  enum class Stage : std::uint8_t { before_head, streaming } stage_ = Stage::before_head;
  enum class Flow : std::uint8_t { running, paused } flow_ = Flow::running;
  enum class Wish : std::uint8_t { none, abort, end } wish_ = Wish::none;
  std::unique_ptr<Timer> timer_;
  std::unique_ptr<Operation> vetting_;
  std::unique_ptr<HttpOperation> inner_;
};

class GuardedOperation final : public HttpOperation {
 public:
  explicit GuardedOperation(std::shared_ptr<GuardedExchange> exchange)
      : exchange_(std::move(exchange)) {}
  ~GuardedOperation() override { exchange_->silence(); }
  GuardedOperation(const GuardedOperation&) = delete;
  GuardedOperation& operator=(const GuardedOperation&) = delete;

  void abort() override { exchange_->abort(); }
  void pause() override { exchange_->pause(); }
  void resume() override { exchange_->resume(); }

 private:
  std::shared_ptr<GuardedExchange> exchange_;
};

class GuardedClient final : public HttpClient {
 public:
  GuardedClient(Loop& loop, std::shared_ptr<HttpClient> client, std::shared_ptr<EgressGuard> guard)
      : loop_(loop), client_(std::move(client)), guard_(std::move(guard)) {}

  std::unique_ptr<HttpOperation> start(HttpRequest request, HttpHandler handler) override {
    auto exchange = std::make_shared<GuardedExchange>(loop_, client_, guard_, std::move(handler));
    exchange->begin(std::move(request));
    return std::make_unique<GuardedOperation>(std::move(exchange));
  }

 private:
  Loop& loop_;
  const std::shared_ptr<HttpClient> client_;
  const std::shared_ptr<EgressGuard> guard_;
};

}  // namespace

std::shared_ptr<HttpClient> make_guarded_client(Loop& loop, std::shared_ptr<HttpClient> client,
                                                std::shared_ptr<EgressGuard> guard) {
  return std::make_shared<GuardedClient>(loop, std::move(client), std::move(guard));
}

}  // namespace pawl
