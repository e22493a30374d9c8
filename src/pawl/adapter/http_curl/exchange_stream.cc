// A request on its way by HTTP/2.
#include <utility>

#include "pawl/adapter/http_curl/exchange.h"
#include "pawl/adapter/http_curl/h2_link.h"
#include "pawl/base/assert.h"

namespace pawl::http_curl {
namespace {

// libcurl unpacks what comes by HTTP/1.1. By HTTP/2 nothing packed is asked for.
bool is_packed(const HttpResponseHead& head) {
  const std::string* const coding = head.find("content-encoding");
  return coding != nullptr && !coding->empty() && *coding != "identity";
}

}  // namespace

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
  curl_easy_getinfo(easy_, CURLINFO_SIZE_UPLOAD_T, &sent);
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
