// A connection that speaks HTTP/2. libcurl makes it (names, proxies, TLS, certificates) and moves
// its bytes; what they say is H2Session's. libcurl 7.88, that of Debian 12, has an HTTP/2 of its
// own that loses the ends of responses and lets one paused stream stop all others.
#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "pawl/adapter/http_curl/curl_multi.h"
#include "pawl/adapter/http_curl/h2_session.h"
#include "pawl/loop.h"

namespace pawl::http_curl {

class Exchange;

class H2Link {
 public:
  // Whom it belongs to.
  class Host {
   public:
    virtual ~Host() = default;
    virtual std::shared_ptr<void> pin() = 0;
    // The loop made it move; it may be destroyed now.
    virtual void on_moved(H2Link& link) = 0;
  };
  // In this order; `failed` can follow any of them.
  enum class State : std::uint8_t { connecting, settling, open, failed };
  enum class Begun : std::uint8_t { well, other_protocol, failed };

  // Takes the handle, and connects with the next run of the multi.
  H2Link(SocketLoop& loop, Host& host, CurlMulti& multi, CURL* easy, std::string origin);
  ~H2Link();
  H2Link(const H2Link&) = delete;
  H2Link& operator=(const H2Link&) = delete;

  // What a handle needs to be one of a link, besides what all need. False: this libcurl cannot.
  static bool prepare(CURL* easy, const std::string& origin, std::int64_t connect_ms);

  const std::string& origin() const { return origin_; }
  const char* detail() const { return detail_.data(); }
  State state() const { return state_; }
  H2Session& session() { return session_; }
  std::deque<std::shared_ptr<Exchange>>& waiting() { return waiting_; }  // <= kStreamsPerLink

  // libcurl has connected.
  Begun begin();
  // Sends what is to be sent.
  void flush();
  // No more streams: one of them was not answered in time, and nobody knows why.
  void retire() { retired_ = true; }
  std::size_t room() const;
  // Nobody needs it any more, or can.
  bool useless() const;
  bool idle() const { return session_.streams() == 0 && waiting_.empty(); }
  std::int64_t idle_since_ms() const { return idle_since_ms_; }
  void note_idle(std::int64_t now_ms) { idle_since_ms_ = now_ms; }
  // What its host notes of it.
  bool touched = false;   // it is among those that the next settle() looks at
  std::size_t place = 0;  // among the host's links

 private:
  void on_ready();
  void receive();
  bool take(std::string_view bytes);
  bool speaks_h2() const;
  void fail();
  void watch_for(Interest interest);
  void go_on_soon();

  SocketLoop& loop_;
  Host& host_;
  CurlMulti& multi_;
  CURL* easy_;
  const std::string origin_;
  std::array<char, CURL_ERROR_SIZE> detail_{};
  State state_ = State::connecting;
  bool retired_ = false;
  H2Session session_;
  std::deque<std::shared_ptr<Exchange>> waiting_;
  curl_socket_t fd_ = CURL_SOCKET_BAD;
  std::unique_ptr<SocketLoop::Watch> watch_;
  Interest watched_ = Interest::read;
  std::int64_t idle_since_ms_ = 0;
  std::shared_ptr<H2Link*> self_ = std::make_shared<H2Link*>(this);  // for what is posted
};

}  // namespace pawl::http_curl
