// libcurl's multi handle on the host's loop: which sockets to watch and when to look at the clock.
#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "pawl/adapter/http_curl/curl_client.h"
#include "pawl/adapter/http_curl/deadline_queue.h"
#include "pawl/port/sockets.h"

namespace pawl::http_curl {

class CurlMulti {
 public:
  // Whom libcurl works for. It owns the CurlMulti.
  class Host {
   public:
    virtual ~Host() = default;
    // Keeps it alive while libcurl is at work, whose callbacks may let go of everything else.
    virtual std::shared_ptr<void> pin() = 0;
    // libcurl is done with a handle.
    virtual void on_result(CURL* easy, CURLcode code) = 0;
    // The loop made libcurl do something; handles may be removed now, and the CurlMulti destroyed.
    virtual void on_progress() = 0;
  };

  // Whether libcurl may be calling back; the same for all that share a loop.
  enum class Calling : std::uint8_t { no, yes };

  CurlMulti(SocketLoop& loop, Host& host, const CurlOptions& options, Calling& calling);
  ~CurlMulti();  // after all handles have been removed
  CurlMulti(const CurlMulti&) = delete;
  CurlMulti& operator=(const CurlMulti&) = delete;

  // None of these is allowed while libcurl is calling back.
  CURLcode add(CURL* easy);  // it starts with the next run()
  void remove(CURL* easy);
  CURLcode unpause(CURL* easy);
  void run();                                         // what is due now
  std::size_t requests() const { return requests_; }  // that were added and not removed

 private:
  class Inside;  // marks that libcurl may be calling back

  struct Watched {
    CURL* easy;
    std::unique_ptr<SocketLoop::Watch> watch;
  };

  void on_interest(CURL* easy, curl_socket_t fd, int what);
  void on_timeout(long delay_ms);
  void on_ready(int fd, Interest which);
  void on_timer();
  void act(curl_socket_t fd, int events);
  void arm();
  void read_results();

  SocketLoop& loop_;
  Host& host_;
  CURLM* multi_;
  std::unordered_map<int, Watched> watches_;
  std::unique_ptr<Timer> timer_;
  std::int64_t timer_at_ms_ = kNeverMs;
  std::int64_t due_at_ms_ = kNeverMs;
  Calling& calling_;
  std::size_t requests_ = 0;
};

}  // namespace pawl::http_curl
