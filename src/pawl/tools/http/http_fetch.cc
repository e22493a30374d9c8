#include "pawl/tools/http/http_fetch.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <string>
#include <utility>

#include "pawl/tools/http/http_answer.h"
#include "pawl/tools/http/http_arguments.h"

namespace pawl {
namespace {

using tools_http::HttpAnswer;
using tools_http::HttpArguments;
using tools_http::HttpToolKind;

// Beyond what is wanted of a body: one piece may run over, and the rest is not asked for.
constexpr std::uint64_t kBodySlackBytes = 1U << 20U;
constexpr std::int64_t kMsOfSecond = 1000;

bool is_busy(int status) {
  constexpr int kTooManyRequests = 429;
  constexpr int kBadGateway = 502;
  constexpr int kUnavailable = 503;
  constexpr int kGatewayTimeout = 504;
  return status == kTooManyRequests || status == kBadGateway || status == kUnavailable ||
         status == kGatewayTimeout;
}

// What is known of a request that failed. Refusals and connections that were never made did
// nothing; of anything later, nobody knows.
ToolOutcome::Kind kind_of(HttpFailure failure, HttpToolKind tool) {
  switch (failure) {
    case HttpFailure::aborted:
      return ToolOutcome::Kind::aborted;
    case HttpFailure::timeout:
      return ToolOutcome::Kind::timed_out;
    case HttpFailure::broken:
    case HttpFailure::protocol:
    case HttpFailure::too_large:
      return tool == HttpToolKind::post ? ToolOutcome::Kind::timed_out : ToolOutcome::Kind::failed;
    case HttpFailure::none:
    case HttpFailure::connect:
    case HttpFailure::tls:
    case HttpFailure::invalid:
    case HttpFailure::overloaded:
      break;
  }
  return ToolOutcome::Kind::failed;
}

// One call, with its attempts.
class HttpToolCall : public std::enable_shared_from_this<HttpToolCall> {
 public:
  enum class Again : std::uint8_t { never, when_busy };

  HttpToolCall(Loop& loop, std::shared_ptr<HttpClient> client, const ToolSpec& spec,
               HttpToolKind tool, std::function<void(ToolOutcome)> done)
      : loop_(loop),
        client_(std::move(client)),
        output_bytes_max_(spec.output_bytes_max),
        again_(spec.effect == EffectClass::once ? Again::never : Again::when_busy),
        tool_(tool),
        done_(std::move(done)) {}

  void begin(Result<HttpArguments> arguments) {
    if (!arguments) {
      return end_later(ToolOutcome::Kind::failed, "bad input: " + arguments.error().message);
    }
    arguments_ = *std::move(arguments);
    due_ms_ = loop_.monotonic_ms() + arguments_.timeout_ms;
    try_once();
  }

  void abort() {
    aborting_ = Aborting::yes;
    timer_.reset();
    if (request_) return request_->abort();
    end_later(ToolOutcome::Kind::aborted, "stopped before it had ended");
  }

  void silence() {
    done_ = {};
    timer_.reset();
    request_.reset();
  }

 private:
  enum class Aborting : std::uint8_t { no, yes };

  void try_once() {
    ++attempt_;
    answer_ = HttpAnswer{};
    answer_.url = arguments_.request.url;
    HttpRequest request = arguments_.request;
    request.body_bytes_max = arguments_.body_bytes_max + kBodySlackBytes;
    request.deadlines.total_ms = std::max<std::int64_t>(1, due_ms_ - loop_.monotonic_ms());
    HttpHandler handler;
    handler.head = [weak = weak_from_this()](const HttpResponseHead& head) {
      if (const auto self = weak.lock()) self->answer_.head = head;
    };
    handler.body = [weak = weak_from_this()](std::string_view bytes) {
      if (const auto self = weak.lock()) self->on_body(bytes);
    };
    handler.done = [weak = weak_from_this()](const HttpEnd& end) {
      if (const auto self = weak.lock()) self->on_done(end);
    };
    request_ = client_->start(std::move(request), std::move(handler));
  }

  void on_body(std::string_view bytes) {
    answer_.bytes += bytes.size();
    const std::uint64_t room = arguments_.body_bytes_max - answer_.body.size();
    answer_.body += bytes.substr(0, room);
    if (bytes.size() <= room) return;
    answer_.is = HttpAnswer::Body::cut;
    request_.reset();  // the rest is not wanted
    on_answered();
  }

  void on_done(const HttpEnd& end) {
    request_.reset();
    if (end.failure == HttpFailure::none) return on_answered();
    const bool transient =
        end.failure == HttpFailure::connect || end.failure == HttpFailure::broken;
    if (transient && may_try_again(kHttpPauseMs << attempt_)) return;
    tell(kind_of(end.failure, tool_), tools_http::render_failure(end.message, output_bytes_max_));
  }

  void on_answered() {
    if (is_busy(answer_.head.status) && may_try_again(wait_asked_for())) return;
    tell(ToolOutcome::Kind::succeeded, tools_http::render(answer_, output_bytes_max_));
  }

  std::int64_t wait_asked_for() const {
    const std::string* const text = answer_.head.find("retry-after");
    std::int64_t seconds = 0;
    if (text == nullptr) return kHttpPauseMs << attempt_;
    const auto [end, fault] = std::from_chars(text->data(), text->data() + text->size(), seconds);
    // A date, or something else: not a wait that is short for certain.
    if (fault != std::errc() || end != text->data() + text->size() || seconds < 0 ||
        seconds > kHttpRetryAfterMaxMs / kMsOfSecond) {
      return kHttpRetryAfterMaxMs + 1;
    }
    return seconds * kMsOfSecond;
  }

  bool may_try_again(std::int64_t wait_ms) {
    if (again_ == Again::never || attempt_ >= kHttpAttemptsMax || aborting_ == Aborting::yes ||
        wait_ms > kHttpRetryAfterMaxMs || loop_.monotonic_ms() + wait_ms >= due_ms_) {
      return false;
    }
    timer_ = loop_.after(wait_ms, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->try_once();
    });
    return true;
  }

  void end_later(ToolOutcome::Kind kind, const std::string& message) {
    loop_.post([weak = weak_from_this(), kind, message] {
      const auto self = weak.lock();
      if (self == nullptr) return;
      self->tell(kind, tools_http::render_failure(message, self->output_bytes_max_));
    });
  }

  void tell(ToolOutcome::Kind kind, std::string content) {
    if (!done_) return;
    ToolOutcome outcome{kind, std::move(content), 0};
    outcome.content_length = std::max<std::uint64_t>(outcome.content.size(), answer_.bytes);
    std::exchange(done_, {})(std::move(outcome));
  }

  Loop& loop_;
  const std::shared_ptr<HttpClient> client_;
  const std::uint64_t output_bytes_max_;
  const Again again_;
  const HttpToolKind tool_;
  std::function<void(ToolOutcome)> done_;
  HttpArguments arguments_;
  HttpAnswer answer_;
  std::int64_t due_ms_ = 0;
  int attempt_ = 0;
  Aborting aborting_ = Aborting::no;
  std::unique_ptr<Timer> timer_;
  std::unique_ptr<HttpOperation> request_;
};

class HttpToolOperation final : public Operation {
 public:
  explicit HttpToolOperation(std::shared_ptr<HttpToolCall> call) : call_(std::move(call)) {}
  ~HttpToolOperation() override { call_->silence(); }
  HttpToolOperation(const HttpToolOperation&) = delete;
  HttpToolOperation& operator=(const HttpToolOperation&) = delete;
  void abort() override { call_->abort(); }

 private:
  std::shared_ptr<HttpToolCall> call_;
};

class StatusOperation final : public Operation {
 public:
  explicit StatusOperation(std::shared_ptr<std::function<void(ToolStatus)>> done)
      : done_(std::move(done)) {}
  ~StatusOperation() override { *done_ = {}; }
  StatusOperation(const StatusOperation&) = delete;
  StatusOperation& operator=(const StatusOperation&) = delete;
  void abort() override {}  // the answer is on its way

 private:
  std::shared_ptr<std::function<void(ToolStatus)>> done_;
};

class HttpTool final : public Tool {
 public:
  HttpTool(Loop& loop, std::shared_ptr<HttpClient> client, HttpToolKind kind,
           const HttpToolOptions& options)
      : loop_(loop),
        client_(std::move(client)),
        kind_(kind),
        options_(options),
        spec_(make_spec(kind, options)) {}

  const ToolSpec& spec() const override { return spec_; }

  std::unique_ptr<Operation> invoke(const ToolInvocation& invocation,
                                    std::function<void(ToolOutcome)> done) override {
    auto call = std::make_shared<HttpToolCall>(loop_, client_, spec_, kind_, std::move(done));
    auto arguments = tools_http::read_arguments(invocation.input, kind_, options_);
    if (arguments && spec_.effect == EffectClass::idempotent) {
      auto& headers = arguments->request.headers;
      std::erase_if(headers, [](const HttpHeader& header) { return is_key_header(header.name); });
      headers.push_back({"idempotency-key", invocation.key});
    }
    call->begin(std::move(arguments));
    return std::make_unique<HttpToolOperation>(std::move(call));
  }

  std::unique_ptr<Operation> status(const ToolInvocation& /*invocation*/,
                                    std::function<void(ToolStatus)> done) override {
    auto shared = std::make_shared<std::function<void(ToolStatus)>>(std::move(done));
    loop_.post([shared] {
      if (!*shared) return;
      std::exchange(*shared, {})({ToolStatus::Kind::unknown, "HTTP has no way to ask"});
    });
    return std::make_unique<StatusOperation>(std::move(shared));
  }

 private:
  static bool is_key_header(std::string name) {
    std::transform(name.begin(), name.end(), name.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return name == "idempotency-key";
  }

  static ToolSpec make_spec(HttpToolKind kind, const HttpToolOptions& options) {
    ToolSpec spec;
    spec.input_schema = tools_http::input_schema(kind, options);
    spec.timeout_ms = options.timeout_ms;
    spec.output_bytes_max = options.output_bytes_max;
    if (kind == HttpToolKind::fetch) {
      spec.name = "http_fetch";
      spec.description =
          "Fetches a URL with GET or HEAD. The answer is JSON: ok, status, url, redirects, "
          "headers, "
          "bytes, truncated, and body (text, markup as it is) or body_base64.";
      spec.effect = EffectClass::pure;
      return spec;
    }
    spec.name = "http_post";
    spec.description =
        "Sends a body to a URL with POST, once. The answer is JSON as that of http_fetch.";
    spec.effect = options.post_key == HttpToolOptions::PostKey::header ? EffectClass::idempotent
                                                                       : EffectClass::once;
    return spec;
  }

  Loop& loop_;
  const std::shared_ptr<HttpClient> client_;
  const HttpToolKind kind_;
  const HttpToolOptions options_;
  const ToolSpec spec_;
};

}  // namespace

std::shared_ptr<Tool> make_http_fetch(Loop& loop, std::shared_ptr<HttpClient> client,
                                      HttpToolOptions options) {
  return std::make_shared<HttpTool>(loop, std::move(client), HttpToolKind::fetch, options);
}

std::shared_ptr<Tool> make_http_post(Loop& loop, std::shared_ptr<HttpClient> client,
                                     HttpToolOptions options) {
  return std::make_shared<HttpTool>(loop, std::move(client), HttpToolKind::post, options);
}

}  // namespace pawl
