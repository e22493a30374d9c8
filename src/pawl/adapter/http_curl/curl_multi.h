// libcurl's multi handle on the host's loop: which sockets to watch and when to look at the clock.
#pragma once

#include <curl/curl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "pawl/adapter/http_curl/curl_client.h"
#include "pawl/adapter/http_curl/deadline_queue.h"
#include "pawl/loop.h"

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
  // Whether connections that nobody uses now are still watched, at no cost for the next to use
  // them.
  enum class Rest : std::uint8_t { watched, unwatched };

  CurlMulti(SocketLoop& loop, Host& host, const CurlOptions& options, Calling& calling,
            Rest rest = Rest::watched);
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

  static int on_opened(void* self, curl_socket_t fd, curlsocktype purpose) noexcept;
  static int on_closing(void* self, curl_socket_t fd) noexcept;

  void on_interest(curl_socket_t fd, int what);
  void on_timeout(long delay_ms);
  void on_ready(int fd, Interest which);
  void on_timer();
  void act(curl_socket_t fd, int events);
  void arm();
  void read_results();

  SocketLoop& loop_;
  Host& host_;
  CURLM* multi_;
  // Of connections from the first interest in them until they close; of other sockets, which are
  // libcurl's own means to resolve names, while there is an interest.
  std::unordered_map<int, std::unique_ptr<SocketLoop::Watch>> watches_;
  std::unordered_set<int> connections_;
  const Rest rest_;
  std::unique_ptr<Timer> timer_;
  std::int64_t timer_at_ms_ = kNeverMs;
  std::int64_t due_at_ms_ = kNeverMs;
  Calling& calling_;
  std::size_t requests_ = 0;
};

inline constexpr std::size_t kRequestsPerMulti = 512;

// As many multi handles as there is need for. libcurl 7.88 looks through all connections of a multi
// handle whenever a request starts or ends: with ten thousand of them that took half a millisecond.
// So a handle gets a bounded number of requests, and the first one that has room the next, so that
// few requests still share their connections.
class MultiSet {
 public:
  MultiSet(SocketLoop& loop, CurlMulti::Host& host, const CurlOptions& options)
      : loop_(loop), host_(host), options_(options) {}

  CurlMulti& with_room();
  // Those without requests, and their connections; one is kept.
  void drop_unused();

  // Whether libcurl is at work: its callbacks run.
  bool calling() const { return calling_ == CurlMulti::Calling::yes; }
  CurlMulti::Calling& calling_mark() { return calling_; }
  std::size_t size() const { return multis_.size(); }

 private:
  SocketLoop& loop_;
  CurlMulti::Host& host_;
  const CurlOptions& options_;
  CurlMulti::Calling calling_ = CurlMulti::Calling::no;
  std::vector<std::unique_ptr<CurlMulti>> multis_;
};

}  // namespace pawl::http_curl
