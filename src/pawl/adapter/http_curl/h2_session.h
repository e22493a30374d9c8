// HTTP/2 on one connection, without the connection: bytes in, bytes out. Framing, header
// compression and flow control are nghttp2's.
//
// A stream whose taker does not want more now keeps what comes, at most its window, and the server
// waits; the window of the connection has room for all of them, so that the others go on.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pawl/port/http.h"
#include "pawl/result.h"

namespace pawl::http_curl {

inline constexpr std::size_t kStreamsPerLink = 100;  // whatever the server allows
inline constexpr std::size_t kStreamWindowBytes = 128U << 10U;
inline constexpr std::size_t kOutputBytes = 16U << 10U;  // about a record of TLS

// Pseudo-headers first; names in lower case.
using H2Head = std::vector<std::pair<std::string, std::string>>;

// Who gets what comes on a stream. It may cancel streams and submit others while it is told.
class StreamTaker {
 public:
  enum class Taken : std::uint8_t { all, later, never };
  // Why a stream is over.
  enum class StreamEnd : std::uint8_t {
    complete,
    refused,   // the server did nothing about it, so that it may be sent again: it says so, or it
               // had closed the connection, which had been used before, when the request came
    too_new,   // it wants HTTP/1.1 for this
    protocol,  // framing that no server should send
    broken,    // reset, or its connection ended
  };

  virtual ~StreamTaker() = default;
  // Of the response's head, as HTTP/1.1 would say it, with the line's end; an empty line ends it.
  virtual Taken on_stream_line(std::string_view line) = 0;
  // `later`: none of it was taken; it comes again after resume().
  virtual Taken on_stream_body(std::string_view bytes) = 0;
  virtual void on_stream_end(StreamEnd end) = 0;
};

class H2Session {
 public:
  H2Session();
  ~H2Session();
  H2Session(const H2Session&) = delete;
  H2Session& operator=(const H2Session&) = delete;

  // The server has said what it allows.
  bool ready() const { return ready_; }
  // No more streams can begin, ever: the server is leaving.
  bool leaving() const { return leaving_; }
  // Both sides have said all that they will.
  bool over() const;
  // That may begin now; 0 until ready().
  std::size_t room() const;
  std::size_t streams() const { return streams_.size(); }
  std::uint64_t received() const { return received_; }  // bytes, of all streams

  // The body stays the caller's and where it is, until the stream ends or is cancelled.
  Result<std::int32_t> submit(StreamTaker& taker, const H2Head& head, const HttpBody& body);
  // Its taker is told nothing more; the server is told to stop.
  void cancel(std::int32_t id);
  // The taker wants what it did not take.
  void resume(std::int32_t id);
  // How much of a body has been handed to the connection.
  std::size_t sent(std::int32_t id) const;

  // An error: the server does not speak HTTP/2, and the connection is of no use.
  Status receive(std::string_view bytes);
  // Up to kOutputBytes that are to be sent, the same until they have been (on_sent).
  std::string_view output();
  void on_sent(std::size_t bytes);
  // Tells the server that nothing more will come.
  void say_goodbye();
  // The connection is gone.
  void end_all();

 private:
  struct Stream {
    StreamTaker* taker;
    const HttpBody* body;  // null: there is none, or nobody will read it again
    std::size_t body_sent = 0;
    std::string held = {};  // <= kStreamWindowBytes: nghttp2 refuses more
    enum class Coming : std::uint8_t { more, last_seen, closed } coming = Coming::more;
    StreamTaker::StreamEnd end = StreamTaker::StreamEnd::broken;
    std::uint64_t began_at = 0;  // of received()
    enum class Link : std::uint8_t { fresh, used } link = Link::fresh;
  };

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_bytes, const std::uint8_t* value, std::size_t value_bytes,
                       std::uint8_t flags, void* self);
  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* self);
  static int on_data(nghttp2_session*, std::uint8_t flags, std::int32_t id,
                     const std::uint8_t* data, std::size_t bytes, void* self);
  static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t error, void* self);
  static ssize_t read_body(nghttp2_session*, std::int32_t id, std::uint8_t* to, std::size_t room,
                           std::uint32_t* flags, nghttp2_data_source*, void* self);

  static nghttp2_session_callbacks* callbacks();
  Stream* find(std::int32_t id);
  void give_line(std::int32_t id, std::string_view line);
  void take_data(std::int32_t id, std::string_view bytes);
  void take_close(std::int32_t id, std::uint32_t error);
  void finish(Stream& stream, StreamTaker::StreamEnd end);
  void reset(std::int32_t id);

  nghttp2_session* session_ = nullptr;
  std::unordered_map<std::int32_t, Stream> streams_;  // <= kStreamsPerLink
  bool ready_ = false;
  bool leaving_ = false;
  std::uint64_t received_ = 0;
  std::uint64_t ended_ = 0;  // streams
  std::string output_;       // <= kOutputBytes and a frame's rest
  std::size_t output_sent_ = 0;
};

}  // namespace pawl::http_curl
