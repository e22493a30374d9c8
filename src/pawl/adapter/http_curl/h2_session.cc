#include "pawl/adapter/http_curl/h2_session.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "pawl/result.h"

namespace pawl::http_curl {
namespace {

using StreamEnd = StreamTaker::StreamEnd;
using Taken = StreamTaker::Taken;

// For all streams to keep what is not wanted yet, and a little more.
constexpr std::int32_t kConnectionWindowBytes =
    static_cast<std::int32_t>((kStreamsPerLink + 28) * kStreamWindowBytes);
constexpr std::uint32_t kHeaderListBytes = 256U << 10U;  // advice; the taker's own bound counts

std::string_view text(const std::uint8_t* data, std::size_t bytes) {
  return {reinterpret_cast<const char*>(data), bytes};
}

StreamEnd end_of(std::uint32_t error) {
  switch (error) {
    case NGHTTP2_REFUSED_STREAM:
      return StreamEnd::refused;
    case NGHTTP2_HTTP_1_1_REQUIRED:
      return StreamEnd::too_new;
    case NGHTTP2_PROTOCOL_ERROR:
    case NGHTTP2_FLOW_CONTROL_ERROR:
    case NGHTTP2_FRAME_SIZE_ERROR:
    case NGHTTP2_COMPRESSION_ERROR:
      return StreamEnd::protocol;
    default:
      return StreamEnd::broken;
  }
}

H2Session& to_session(void* self) {
  return *static_cast<H2Session*>(self);
}

}  // namespace

nghttp2_session_callbacks* H2Session::callbacks() {
  nghttp2_session_callbacks* made = nullptr;
  PAWL_ASSERT(nghttp2_session_callbacks_new(&made) == 0);
  nghttp2_session_callbacks_set_on_header_callback(made, &H2Session::on_header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(made, &H2Session::on_frame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, &H2Session::on_data);
  nghttp2_session_callbacks_set_on_stream_close_callback(made, &H2Session::on_close);
  return made;
}

H2Session::H2Session() {
  nghttp2_session_callbacks* const told = callbacks();
  nghttp2_option* option = nullptr;
  PAWL_ASSERT(nghttp2_option_new(&option) == 0);
  nghttp2_option_set_no_auto_window_update(option, 1);
  PAWL_ASSERT(nghttp2_session_client_new2(&session_, told, this, option) == 0);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(told);
  const std::array<nghttp2_settings_entry, 3> settings = {{
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindowBytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kHeaderListBytes},
  }};
  PAWL_ASSERT(
      nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size()) == 0);
  PAWL_ASSERT(nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0,
                                                    kConnectionWindowBytes) == 0);
}

H2Session::~H2Session() {
  nghttp2_session_del(session_);
}

std::size_t H2Session::room() const {
  if (!ready_ || leaving_) return 0;
  const std::size_t allowed = std::min<std::size_t>(
      kStreamsPerLink,
      nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS));
  return streams_.size() < allowed ? allowed - streams_.size() : 0;
}

bool H2Session::over() const {
  return nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0 &&
         output_sent_ == output_.size();
}

Result<std::int32_t> H2Session::submit(StreamTaker& taker, const H2Head& head,
                                       const HttpBody& body) {
  if (leaving_) return Error{ErrorCode::unavailable, "the server is leaving"};
  std::vector<nghttp2_nv> fields;
  fields.reserve(head.size());
  const auto bytes = [](const std::string& from) {  // nghttp2 copies, and changes nothing
    return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(from.data()));
  };
  for (const auto& [name, value] : head) {
    fields.push_back({bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
  }
  nghttp2_data_provider provider = {};
  provider.read_callback = &H2Session::read_body;
  const std::int32_t id = nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(),
                                                 body.empty() ? nullptr : &provider, nullptr);
  if (id < 0) return Error{ErrorCode::unavailable, nghttp2_strerror(id)};
  Stream& stream =
      streams_.emplace(id, Stream{&taker, body.empty() ? nullptr : &body}).first->second;
  stream.began_at = received_;
  stream.link = ended_ > 0 ? Stream::Link::used : Stream::Link::fresh;
  return id;
}

void H2Session::reset(std::int32_t id) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
}

void H2Session::cancel(std::int32_t id) {
  const auto at = streams_.find(id);
  if (at == streams_.end()) return;
  if (!at->second.held.empty()) {
    nghttp2_session_consume_connection(session_, at->second.held.size());
  }
  const bool open = at->second.coming != Stream::Coming::closed;
  streams_.erase(at);
  if (open) reset(id);
}

void H2Session::resume(std::int32_t id) {
  Stream* const stream = find(id);
  if (stream == nullptr) return;
  if (!stream->held.empty()) {
    const std::string held = std::exchange(stream->held, {});
    take_data(id, held);
  }
  Stream* const after = find(id);
  if (after == nullptr || !after->held.empty()) return;
  if (after->coming == Stream::Coming::closed) after->taker->on_stream_end(after->end);
}

std::size_t H2Session::sent(std::int32_t id) const {
  const auto at = streams_.find(id);
  return at == streams_.end() ? 0 : at->second.body_sent;
}

H2Session::Stream* H2Session::find(std::int32_t id) {
  const auto at = streams_.find(id);
  return at == streams_.end() ? nullptr : &at->second;
}

int H2Session::on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                         std::size_t name_bytes, const std::uint8_t* value, std::size_t value_bytes,
                         std::uint8_t, void* self) {
  if (frame->hd.type != NGHTTP2_HEADERS) return 0;
  const std::string_view key = text(name, name_bytes);
  std::string line(key == ":status" ? "HTTP/2" : key);
  line += key == ":status" ? " " : ": ";
  line.append(text(value, value_bytes)).append("\r\n");
  to_session(self).give_line(frame->hd.stream_id, line);
  return 0;
}

void H2Session::give_line(std::int32_t id, std::string_view line) {
  Stream* const stream = find(id);
  if (stream == nullptr) return;
  if (stream->taker->on_stream_line(line) == Taken::never) cancel(id);
}

int H2Session::on_frame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
  H2Session& session = to_session(self);
  if (frame->hd.type == NGHTTP2_GOAWAY) session.leaving_ = true;
  if (frame->hd.type == NGHTTP2_SETTINGS && (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) {
    session.ready_ = true;
  }
  const std::int32_t id = frame->hd.stream_id;
  if (frame->hd.type == NGHTTP2_HEADERS) session.give_line(id, "\r\n");
  const bool carries = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
  if (carries && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
    if (Stream* const stream = session.find(id)) stream->coming = Stream::Coming::last_seen;
  }
  return 0;
}

int H2Session::on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                       std::size_t bytes, void* self) {
  to_session(self).take_data(id, text(data, bytes));
  return 0;
}

void H2Session::take_data(std::int32_t id, std::string_view bytes) {
  Stream* const stream = find(id);
  if (stream == nullptr) {  // cancelled; the connection's window is everybody's
    nghttp2_session_consume_connection(session_, bytes.size());
    return;
  }
  if (!stream->held.empty()) {
    stream->held += bytes;
    return;
  }
  switch (stream->taker->on_stream_body(bytes)) {
    case Taken::all:
      nghttp2_session_consume(session_, id, bytes.size());
      break;
    case Taken::later:
      if (Stream* const still = find(id)) still->held.assign(bytes);
      break;
    case Taken::never:
      nghttp2_session_consume_connection(session_, bytes.size());
      cancel(id);
      break;
  }
}

int H2Session::on_close(nghttp2_session*, std::int32_t id, std::uint32_t error, void* self) {
  to_session(self).take_close(id, error);
  return 0;
}

void H2Session::take_close(std::int32_t id, std::uint32_t error) {
  Stream* const stream = find(id);
  if (stream == nullptr) return;
  // A server that has answered may reset what is left of the request.
  const bool whole = stream->coming == Stream::Coming::last_seen &&
                     (error == NGHTTP2_NO_ERROR || error == NGHTTP2_CANCEL);
  finish(*stream, whole ? StreamEnd::complete : end_of(error));
}

void H2Session::finish(Stream& stream, StreamEnd end) {
  stream.end = end;
  stream.coming = Stream::Coming::closed;
  stream.body = nullptr;
  ++ended_;
  if (stream.held.empty()) stream.taker->on_stream_end(end);
}

ssize_t H2Session::read_body(nghttp2_session*, std::int32_t id, std::uint8_t* to, std::size_t room,
                             std::uint32_t* flags, nghttp2_data_source*, void* self) {
  Stream* const stream = to_session(self).find(id);
  if (stream == nullptr || stream->body == nullptr) {  // cancelled
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }
  std::size_t filled = 0;
  while (filled < room) {
    const std::string_view part = stream->body->at(stream->body_sent).substr(0, room - filled);
    if (part.empty()) break;
    std::memcpy(to + filled, part.data(), part.size());
    filled += part.size();
    stream->body_sent += part.size();
  }
  if (stream->body_sent == stream->body->size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(filled);
}

Status H2Session::receive(std::string_view bytes) {
  received_ += bytes.size();
  const ssize_t taken = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (taken < 0) return Error{ErrorCode::unavailable, nghttp2_strerror(static_cast<int>(taken))};
  if (nghttp2_session_check_request_allowed(session_) == 0) leaving_ = true;
  return ok();
}

std::string_view H2Session::output() {
  if (output_sent_ < output_.size()) return std::string_view(output_).substr(output_sent_);
  output_.clear();
  output_sent_ = 0;
  while (output_.size() < kOutputBytes) {
    const std::uint8_t* data = nullptr;
    const ssize_t bytes = nghttp2_session_mem_send(session_, &data);
    if (bytes <= 0) break;
    output_.append(text(data, static_cast<std::size_t>(bytes)));
  }
  return output_;
}

void H2Session::on_sent(std::size_t bytes) {
  output_sent_ += bytes;
}

void H2Session::say_goodbye() {
  nghttp2_session_terminate_session(session_, NGHTTP2_NO_ERROR);
}

void H2Session::end_all() {
  leaving_ = true;
  std::vector<std::int32_t> open;
  for (const auto& [id, stream] : streams_) {
    if (stream.coming != Stream::Coming::closed) open.push_back(id);
  }
  std::sort(open.begin(), open.end());
  for (const std::int32_t id : open) {
    Stream* const stream = find(id);
    if (stream == nullptr) continue;
    const bool whole = stream->coming == Stream::Coming::last_seen;
    const bool unheard = stream->link == Stream::Link::used && stream->began_at == received_;
    finish(*stream, whole ? StreamEnd::complete : unheard ? StreamEnd::refused : StreamEnd::broken);
  }
}

}  // namespace pawl::http_curl
