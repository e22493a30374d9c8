// One request on its way: libcurl's easy handle, the bounds, and what the handler has been told.
//
// libcurl calls it at moments when no handle may be removed. So it only notes that it has ended,
// tells its owner, and is taken away afterwards.
#pragma once

#include <curl/curl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "pawl/adapter/http_curl/curl_client.h"
#include "pawl/adapter/http_curl/curl_failure.h"
#include "pawl/adapter/http_curl/deadline_queue.h"
#include "pawl/adapter/http_curl/h2_session.h"
#include "pawl/adapter/http_curl/response_head.h"
#include "pawl/port/http.h"

namespace pawl::http_curl {

class CurlMulti;
class H2Link;

// How often a request is sent that the server says it did nothing about.
inline constexpr int kSendsMax = 3;
// A larger body is read by libcurl in pieces; a smaller one goes with its head, in one system call.
inline constexpr std::size_t kWholeBodyBytesMax = 64U << 10U;
inline constexpr std::size_t kSendBytesMin = 16U << 10U;  // libcurl's least, which nobody lends
inline constexpr std::size_t kSendBytesMax = 512U << 10U;
inline constexpr std::int64_t kConnectMaxMs = 86'400'000;  // without one libcurl takes five minutes

class Exchange final : public StreamTaker, public std::enable_shared_from_this<Exchange> {
 public:
  // Told from inside libcurl or the caller's own calls: it notes and acts later.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_connected(Exchange& exchange) = 0;
    virtual void on_deadlines_changed(Exchange& exchange) = 0;
    virtual void on_resumed(Exchange& exchange) = 0;
    virtual void on_ended(Exchange& exchange) = 0;
    // It is to be sent again: an HTTP/2 server refused it, or a kept connection was closed.
    virtual void on_refused(Exchange& exchange) = 0;
    virtual std::int64_t now_ms() const = 0;
    // Room to send from: so many bytes of what is lent to all requests, or fewer, or none.
    virtual std::size_t lend_room(std::size_t wanted) = 0;
    virtual void take_room_back(std::size_t bytes) = 0;
  };
  // In this order; `ended` can follow any of them.
  enum class Stage : std::uint8_t { waiting, connecting, requesting, streaming, ended };

  Exchange(Owner& owner, HttpRequest request, HttpHandler handler);
  ~Exchange() override;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  Stage stage() const { return stage_; }
  Stage last_stage() const { return last_stage_; }  // before it ended
  CURL* easy() const { return easy_; }
  // Where its handle was added to; kept here for its owner.
  CurlMulti* multi() const { return multi_; }
  void set_multi(CurlMulti* multi) { multi_ = multi; }
  DeadlineQueue<Exchange>::Place& place() { return place_; }

  const std::string& origin() const { return origin_; }
  const HttpRequest& request() const { return request_; }
  std::int64_t connect_ms() const { return request_.deadlines.connect_ms; }
  HttpVersion version() const { return request_.version; }
  // The server does not take it in HTTP/2. False: nothing else was asked for, and it has ended.
  bool fall_back();

  // Tells the handle (null: there is none) what to do. False: it has ended instead.
  bool open(CURL* easy);
  // Lets go of the handle, which has been removed from its multi. Null: it had none.
  CURL* close();
  // Whether nothing unusual has happened to the handle, so that another may use it.
  bool ended_well() const { return stage_ == Stage::ended && end_.failure == HttpFailure::none; }

  // By HTTP/2, in place of open(): it waits for a stream, has one, may have to wait for another.
  void await_stream();
  void on_stream(std::int32_t id);
  void await_another();
  H2Link* link() const { return link_; }
  void set_link(H2Link* link) { link_ = link; }
  std::int32_t stream() const { return stream_; }  // 0: it has none yet
  // A deadline ended it.
  bool timed_out() const;
  Taken on_stream_line(std::string_view line) override;
  Taken on_stream_body(std::string_view bytes) override;
  void on_stream_end(StreamEnd end) override;

  // The first reason counts.
  void end(HttpFailure failure, const std::string& reason);
  // The connection was a kept one and broke before anything was heard: its server had closed it, as
  // servers do. libcurl sends such a request again if it reads the end, but not if it writes into
  // it.
  bool lost_kept_connection(CURLcode code) const;
  void end_by(CURLcode code) { end_by(code, detail_.data()); }
  void end_by(CURLcode code, std::string_view detail);
  // The handler is called no more.
  void silence();
  // Calls done(), unless silenced.
  void report();

  void pause();
  void resume();
  // Whether its handle is to be unpaused, now that it is wanted again. Says so once.
  enum class Next : std::uint8_t { nothing, unpause };
  Next next_after_resume();

  // When somebody has to look at it again; kNeverMs once it has ended.
  std::int64_t due_ms() const;
  // Ends it if a deadline has passed.
  void check_deadlines();

 private:
  static std::size_t on_header(char* data, std::size_t, std::size_t size, void* self) noexcept;
  static std::size_t on_send(char* to, std::size_t, std::size_t room, void* self) noexcept;
  static int on_seek(void* self, curl_off_t offset, int origin) noexcept;
  static std::size_t on_body(char* data, std::size_t, std::size_t size, void* self) noexcept;
  static int on_connected(void* self, char*, char*, int, int) noexcept;
  static curl_socket_t on_socket(void* self, curlsocktype purpose, curl_sockaddr* to) noexcept;

  std::size_t take_line(std::string_view line);
  std::size_t take_body(std::string_view bytes);
  void take_head();
  bool has_been_sent() const;
  void forget_request();
  void set_callbacks();
  void set_connection();
  void pin_connection();
  void set_request();
  void set_body();
  void give_room_back();
  void set_headers();
  void add_header(const std::string& line);
  Reached reached() const;

  template <class Value>
  void set(CURLoption option, Value value);

  Owner& owner_;
  HttpRequest request_;
  const std::string origin_;
  HttpHandler handler_;
  CURL* easy_ = nullptr;
  CurlMulti* multi_ = nullptr;
  H2Link* link_ = nullptr;
  std::int32_t stream_ = 0;
  int sends_ = 0;
  curl_slist* headers_ = nullptr;
  curl_slist* connect_to_ = nullptr;
  CURLcode set_up_ = CURLE_OK;  // the first option that was refused
  std::array<char, CURL_ERROR_SIZE> detail_{};

  Stage stage_ = Stage::waiting;
  Stage last_stage_ = Stage::waiting;
  enum class Flow : std::uint8_t { running, paused } flow_ = Flow::running;
  enum class Handle : std::uint8_t { running, paused } handle_ = Handle::running;
  ResponseHeadReader reader_;
  std::uint64_t body_bytes_ = 0;
  std::size_t read_ = 0;  // of the request's body, by libcurl
  std::size_t room_ = 0;  // that was lent to send it from
  HttpEnd end_;

  const std::int64_t started_ms_;
  std::int64_t connecting_since_ms_ = 0;
  std::int64_t last_byte_ms_ = 0;
  DeadlineQueue<Exchange>::Place place_;
};

}  // namespace pawl::http_curl
