#include "pawl/adapter/http_curl/exchange.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "pawl/adapter/http_curl/h2_link.h"
#include "pawl/adapter/http_curl/libcurl.h"
#include "pawl/adapter/http_curl/request_check.h"
#include "pawl/result.h"

namespace pawl::http_curl {
namespace {

constexpr std::size_t kRefused = CURL_WRITEFUNC_ERROR;  // makes libcurl end the transfer

std::int64_t after(std::int64_t since_ms, std::int64_t allowed_ms) {
  return allowed_ms == 0 || allowed_ms > kNeverMs - since_ms ? kNeverMs : since_ms + allowed_ms;
}

// libcurl unpacks what comes by HTTP/1.1. By HTTP/2 nothing packed is asked for.
bool is_packed(const HttpResponseHead& head) {
  const std::string* const coding = head.find("content-encoding");
  return coding != nullptr && !coding->empty() && *coding != "identity";
}

}  // namespace

Exchange::Exchange(Owner& owner, HttpRequest request, HttpHandler handler)
    : owner_(owner),
      request_(std::move(request)),
      origin_(origin_of(request_.url)),
      handler_(std::move(handler)),
      reader_(request_.header_bytes_max),
      started_ms_(owner.now_ms()) {}

Exchange::~Exchange() {
  free_handle(close());
}

CURL* Exchange::close() {
  give_room_back();
  if (easy_ != nullptr) set(CURLOPT_HTTPHEADER, static_cast<void*>(nullptr));
  free_list(std::exchange(headers_, nullptr));
  if (connect_to_ != nullptr) {
    set(CURLOPT_CONNECT_TO, static_cast<void*>(nullptr));
    set(CURLOPT_OPENSOCKETFUNCTION, static_cast<void*>(nullptr));
    set(CURLOPT_PROXY, static_cast<void*>(nullptr));
    set(CURLOPT_NOPROXY, static_cast<void*>(nullptr));
    free_list(std::exchange(connect_to_, nullptr));
  }
  return std::exchange(easy_, nullptr);
}

void Exchange::end(HttpFailure failure, const std::string& reason) {
  if (stage_ == Stage::ended) return;
  last_stage_ = std::exchange(stage_, Stage::ended);
  end_.failure = failure;
  if (failure != HttpFailure::none) {
    end_.message =
        request_.method.substr(0, kMethodBytesMax) + " " + shown_url(request_.url) + ": " + reason;
  }
  owner_.on_ended(*this);
}

bool Exchange::lost_kept_connection(CURLcode code) const {
  if (code != CURLE_SEND_ERROR || stage_ != Stage::requesting || sends_ >= kSendsMax) return false;
  long connects = 1;
  long head_bytes = 1;
  lib.easy_getinfo(easy_, CURLINFO_NUM_CONNECTS, &connects);
  lib.easy_getinfo(easy_, CURLINFO_HEADER_SIZE, &head_bytes);
  return connects == 0 && head_bytes == 0;
}

void Exchange::end_by(CURLcode code, std::string_view detail) {
  if (code == CURLE_OK && reached() != Reached::head) {
    return end(HttpFailure::broken, "the connection ended inside the head");
  }
  const HttpFailure failure = failure_of(code, reached(), detail);
  end(failure, reason_of(code, failure, detail));
}

Reached Exchange::reached() const {
  const Stage stage = stage_ == Stage::ended ? last_stage_ : stage_;
  if (stage == Stage::streaming) return Reached::head;
  return stage == Stage::requesting ? Reached::server : Reached::nothing;
}

void Exchange::silence() {
  handler_.done = nullptr;
  end(HttpFailure::aborted, "not wanted any more");
}

void Exchange::report() {
  PAWL_ASSERT(stage_ == Stage::ended);
  // What the handler holds may hold the operation: it goes when it has been called.
  const HttpHandler handler = std::exchange(handler_, {});
  if (handler.done) handler.done(end_);
}

void Exchange::pause() {
  flow_ = Flow::paused;
}

void Exchange::resume() {
  if (std::exchange(flow_, Flow::running) == Flow::running) return;
  last_byte_ms_ = owner_.now_ms();
  owner_.on_deadlines_changed(*this);
  if (handle_ == Handle::paused) owner_.on_resumed(*this);
}

Exchange::Next Exchange::next_after_resume() {
  if (stage_ != Stage::streaming || flow_ == Flow::paused) return Next::nothing;
  const Handle handle = std::exchange(handle_, Handle::running);
  return handle == Handle::paused ? Next::unpause : Next::nothing;
}

// libcurl calls here from C: an exception of a handler's ends the process.
std::size_t Exchange::on_header(char* data, std::size_t, std::size_t size, void* self) noexcept {
  return static_cast<Exchange*>(self)->take_line({data, size});
}

std::size_t Exchange::on_body(char* data, std::size_t, std::size_t size, void* self) noexcept {
  return static_cast<Exchange*>(self)->take_body({data, size});
}

std::size_t Exchange::on_send(char* to, std::size_t, std::size_t room, void* self) noexcept {
  auto& exchange = *static_cast<Exchange*>(self);
  if (exchange.stage_ == Stage::ended) return CURL_READFUNC_ABORT;
  std::size_t filled = 0;
  while (filled < room) {
    const std::string_view part =
        exchange.request_.body.at(exchange.read_).substr(0, room - filled);
    if (part.empty()) break;
    std::memcpy(to + filled, part.data(), part.size());
    filled += part.size();
    exchange.read_ += part.size();
  }
  return filled;
}

// A request that is sent again is read from its beginning.
int Exchange::on_seek(void* self, curl_off_t offset, int origin) noexcept {
  auto& exchange = *static_cast<Exchange*>(self);
  const bool fits = origin == SEEK_SET && offset >= 0 &&
                    static_cast<std::uint64_t>(offset) <= exchange.request_.body.size();
  if (!fits) return CURL_SEEKFUNC_FAIL;
  exchange.read_ = static_cast<std::size_t>(offset);
  return CURL_SEEKFUNC_OK;
}

int Exchange::on_connected(void* self, char*, char*, int, int) noexcept {
  auto& exchange = *static_cast<Exchange*>(self);
  if (exchange.stage_ == Stage::ended) return CURL_PREREQFUNC_ABORT;
  if (exchange.stage_ == Stage::connecting) {  // a request that is sent again comes here twice
    exchange.stage_ = Stage::requesting;
    exchange.owner_.on_connected(exchange);
  }
  return CURL_PREREQFUNC_OK;
}

std::size_t Exchange::take_line(std::string_view line) {
  if (stage_ == Stage::ended) return kRefused;
  switch (reader_.on_line(line)) {
    case ResponseHeadReader::Step::more:
      break;
    case ResponseHeadReader::Step::complete:
      take_head();
      break;
    case ResponseHeadReader::Step::too_large:
      end(HttpFailure::too_large, std::string(kHeaderTooLarge));
      break;
    case ResponseHeadReader::Step::refused:
      end(HttpFailure::protocol, reader_.why());
      break;
  }
  return stage_ == Stage::ended ? kRefused : line.size();
}

void Exchange::take_head() {
  stage_ = Stage::streaming;
  last_byte_ms_ = owner_.now_ms();
  owner_.on_deadlines_changed(*this);
  forget_request();
  const HttpResponseHead head = reader_.take();
  if (handler_.head) handler_.head(head);
}

// A prompt can be megabytes, and its answer take minutes. Nobody looks at the request any more when
// it has been sent and its answer has begun.
void Exchange::forget_request() {
  if (!has_been_sent()) return;
  request_.body = {};
  give_room_back();
  if (easy_ != nullptr) set(CURLOPT_HTTPHEADER, static_cast<void*>(nullptr));
  free_list(std::exchange(headers_, nullptr));
}

std::size_t Exchange::take_body(std::string_view bytes) {
  if (stage_ == Stage::ended) return kRefused;
  if (stage_ != Stage::streaming) {
    end(HttpFailure::protocol, "a body without a head");
    return kRefused;
  }
  if (flow_ == Flow::paused) {
    handle_ = Handle::paused;
    return CURL_WRITEFUNC_PAUSE;
  }
  if (bytes.size() > request_.body_bytes_max - body_bytes_) {
    end(HttpFailure::too_large, "the body is over its bound");
    return kRefused;
  }
  body_bytes_ += bytes.size();
  last_byte_ms_ = owner_.now_ms();
  if (handler_.body && !bytes.empty()) handler_.body(bytes);
  return stage_ == Stage::ended ? kRefused : bytes.size();
}

std::int64_t Exchange::due_ms() const {
  const HttpDeadlines& allowed = request_.deadlines;
  const std::int64_t total = after(started_ms_, allowed.total_ms);
  const std::int64_t first_byte = after(started_ms_, allowed.first_byte_ms);
  switch (stage_) {
    case Stage::waiting:
    case Stage::requesting:
      return std::min(total, first_byte);
    case Stage::connecting:
      return std::min({total, first_byte, after(connecting_since_ms_, allowed.connect_ms)});
    case Stage::streaming:
      return flow_ == Flow::running ? std::min(total, after(last_byte_ms_, allowed.idle_ms))
                                    : total;
    case Stage::ended:
      break;
  }
  return kNeverMs;
}

void Exchange::check_deadlines() {
  const std::int64_t now_ms = owner_.now_ms();
  if (stage_ == Stage::ended || due_ms() > now_ms) return;
  if (now_ms >= after(started_ms_, request_.deadlines.total_ms)) {
    end(HttpFailure::timeout, "not finished in time");
  } else if (stage_ == Stage::streaming) {
    end(HttpFailure::timeout, "the response stopped");
  } else if (now_ms >= after(started_ms_, request_.deadlines.first_byte_ms)) {
    end(HttpFailure::timeout, "no response in time");
  } else {
    end(HttpFailure::connect, "not connected in time");
  }
}

// --- By HTTP/2 ----------------------------------------------------------------------------------

void Exchange::await_stream() {
  stage_ = Stage::connecting;
  connecting_since_ms_ = owner_.now_ms();
}

void Exchange::on_stream(std::int32_t id) {
  PAWL_ASSERT(stage_ == Stage::connecting);
  stream_ = id;
  ++sends_;
  stage_ = Stage::requesting;
  owner_.on_connected(*this);
}

void Exchange::await_another() {
  stream_ = 0;
  stage_ = Stage::waiting;
}

bool Exchange::fall_back() {
  if (request_.version == HttpVersion::two) {
    end(HttpFailure::protocol, "the server does not speak HTTP/2 here");
    return false;
  }
  request_.version = HttpVersion::one;
  return true;
}

bool Exchange::timed_out() const {
  return stage_ == Stage::ended &&
         (end_.failure == HttpFailure::timeout || end_.failure == HttpFailure::connect);
}

bool Exchange::has_been_sent() const {
  if (link_ != nullptr) return link_->session().sent(stream_) == request_.body.size();
  curl_off_t sent = 0;
  lib.easy_getinfo(easy_, CURLINFO_SIZE_UPLOAD_T, &sent);
  return static_cast<std::uint64_t>(sent) >= request_.body.size();
}

StreamTaker::Taken Exchange::on_stream_line(std::string_view line) {
  if (stage_ == Stage::requesting && line == "\r\n" && is_packed(reader_.head())) {
    end(HttpFailure::protocol, "a content encoding not asked for");
  }
  take_line(line);
  return stage_ == Stage::ended ? Taken::never : Taken::all;
}

StreamTaker::Taken Exchange::on_stream_body(std::string_view bytes) {
  const std::size_t taken = take_body(bytes);
  if (stage_ == Stage::ended) return Taken::never;
  return taken == CURL_WRITEFUNC_PAUSE ? Taken::later : Taken::all;
}

void Exchange::on_stream_end(StreamEnd how) {
  const bool unanswered = stage_ == Stage::requesting;
  switch (how) {
    case StreamEnd::complete:
      return end_by(CURLE_OK);
    case StreamEnd::too_new:
      if (!unanswered || !fall_back()) break;
      return owner_.on_refused(*this);
    case StreamEnd::refused:
      if (!unanswered || sends_ >= kSendsMax) break;
      return owner_.on_refused(*this);
    case StreamEnd::protocol:
      return end(HttpFailure::protocol, "framing that no server should send");
    case StreamEnd::broken:
      break;
  }
  end(HttpFailure::broken, how == StreamEnd::refused ? "the server refused the stream again"
                                                     : "the stream ended inside the response");
}

}  // namespace pawl::http_curl
