#include "pawl/testing/fake_provider/recorder.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "pawl/testing/fake_provider/cassette.h"
#include "pawl/testing/fake_provider/dialects/model_request.h"
#include "pawl/testing/fake_provider/dialects/render.h"
#include "pawl/testing/fake_provider/plan.h"
#include "pawl/testing/fake_provider/request_log.h"

namespace pawl::fake {
namespace {

constexpr std::string_view kScrubbed = "<scrubbed>";

bool is_of_one_hop(std::string_view name) {
  static constexpr std::array<std::string_view, 9> kNames = {
      "host",   "connection", "content-length", "transfer-encoding",
      "expect", "upgrade",    "keep-alive",     "accept-encoding",
      "te"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [name](std::string_view each) { return equal_ignoring_case(each, name); });
}

HttpRequest onward(const ServerRequest& request, const std::string& upstream) {
  HttpRequest out;
  out.method = request.method;
  out.url = upstream + request.target;
  out.body = request.body;
  out.body_bytes_max = kRecordedBodyBytesMax;
  for (const Header& header : request.headers) {
    if (is_of_one_hop(header.name)) continue;
    const bool secret = is_credential(header.name);
    out.headers.push_back({header.name, header.value,
                           secret ? HttpHeader::Secrecy::secret : HttpHeader::Secrecy::open});
  }
  return out;
}

void replace_all(std::string& text, const std::string& secret) {
  if (secret.empty()) return;
  for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at)) {
    text.replace(at, secret.size(), kScrubbed);
    at += kScrubbed.size();
  }
}

// What is under way to the real provider, and what has come back of it.
struct Passage {
  ServerRequest request;
  std::shared_ptr<Exchange> exchange;
  std::unique_ptr<HttpOperation> operation;
  Recording recording;
  bool has_head = false;
};

// Lives on the loop's thread, but for what is posted to it.
class Booth : public std::enable_shared_from_this<Booth> {
 public:
  explicit Booth(RecordingOptions options) : options_(std::move(options)) {}

  void start(std::uint64_t number, ServerRequest request, std::shared_ptr<Exchange> exchange);
  void clear() { passages_.clear(); }

 private:
  void on_head(Passage& passage, const HttpResponseHead& head);
  void on_body(Passage& passage, std::string_view bytes);
  void on_done(std::uint64_t number, const HttpEnd& end);
  void record(Passage& passage);
  void scrub_pieces(Recording& recording, const std::string& key);

  RecordingOptions options_;
  std::map<std::uint64_t, Passage> passages_;
};

void Booth::start(std::uint64_t number, ServerRequest request, std::shared_ptr<Exchange> exchange) {
  Passage& passage = passages_[number];
  passage.request = std::move(request);
  passage.exchange = std::move(exchange);
  HttpHandler handler;
  handler.head = [this, &passage](const HttpResponseHead& head) { on_head(passage, head); };
  handler.body = [this, &passage](std::string_view bytes) { on_body(passage, bytes); };
  handler.done = [this, number](const HttpEnd& end) { on_done(number, end); };
  passage.operation =
      options_.client->start(onward(passage.request, options_.upstream), std::move(handler));
}

void Booth::on_head(Passage& passage, const HttpResponseHead& head) {
  passage.has_head = true;
  passage.recording.status = head.status;
  Rendered reply;
  reply.status = head.status;
  reply.framing = Framing::chunked;
  for (const HttpHeader& header : head.headers) {
    if (is_of_one_hop(header.name) || header.name == "content-encoding") continue;
    reply.headers.push_back({header.name, header.value});
    const bool secret =
        is_credential(header.name) || header.name.find("organization") != std::string::npos;
    passage.recording.headers.push_back(
        {header.name, secret ? std::string(kScrubbed) : header.value});
  }
  passage.exchange->send_piece({http_head(reply)});
}

void Booth::on_body(Passage& passage, std::string_view bytes) {
  passage.recording.pieces.emplace_back(bytes);
  passage.exchange->send_piece({chunk(bytes)});
}

// A secret may lie across pieces: where there is one, they become one.
void Booth::scrub_pieces(Recording& recording, const std::string& key) {
  const std::string whole = joined(recording.pieces);
  std::string scrubbed = whole;
  replace_all(scrubbed, key);
  options_.scrub(scrubbed);
  if (scrubbed != whole) recording.pieces = {std::move(scrubbed)};
}

void Booth::record(Passage& passage) {
  const ServerRequest& request = passage.request;
  const std::string key = key_of(request);
  Recording& recording = passage.recording;
  recording.method = request.method;
  recording.path = std::string(path_of(request.target));
  recording.digest = body_digest(request.body);
  recording.request_body = request.body;
  replace_all(recording.request_body, key);
  options_.scrub(recording.request_body);
  for (Header& header : recording.headers) {
    replace_all(header.value, key);
    options_.scrub(header.value);
  }
  scrub_pieces(recording, key);
  options_.write(to_line(recording));
}

void Booth::on_done(std::uint64_t number, const HttpEnd& end) {
  auto node = passages_.extract(number);  // Holds the operation until we have returned.
  Passage& passage = node.mapped();
  if (end.failure == HttpFailure::none && passage.has_head) {
    record(passage);
    passage.exchange->send_piece({std::string(kLastChunk)});
    return passage.exchange->finish(WireEnd::keep_alive);
  }
  if (passage.has_head) return passage.exchange->finish(WireEnd::reset);
  FakeError error;
  error.status = 502;
  error.message = "the upstream did not answer: " + end.message;
  passage.exchange->send(
      plan_plainly(render_error(route_of(passage.request).vendor, error, number)));
}

class Recorder final : public Answerer {
 public:
  explicit Recorder(RecordingOptions options)
      : loop_(*options.loop), booth_(std::make_shared<Booth>(std::move(options))) {}
  ~Recorder() override { booth_->clear(); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void answer(const ServerRequest& request, std::uint64_t number,
              std::shared_ptr<Exchange> exchange) override {
    loop_.post([to = std::weak_ptr<Booth>(booth_), number, request = ServerRequest(request),
                exchange = std::move(exchange)]() mutable {
      if (const auto booth = to.lock()) {
        booth->start(number, std::move(request), std::move(exchange));
      }
    });
  }

 private:
  Loop& loop_;
  std::shared_ptr<Booth> booth_;
};

}  // namespace

std::unique_ptr<Answerer> make_recorder(RecordingOptions options) {
  options.upstream.erase(options.upstream.find_last_not_of('/') + 1);
  return std::make_unique<Recorder>(std::move(options));
}

}  // namespace pawl::fake
