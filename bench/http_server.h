// The server that HTTP clients are measured against, in a process of its own: one thread on epoll.
//   GET  /stream   a head, one delta at once, and when go() has been said a delta in each interval
//   POST /small    a short answer
//   POST /v1/messages   as /stream, in the words of Anthropic; what a delta says is kDeltaBytes
//   long
// A delta is a server-sent event of kDeltaBytes that begins with the time it was sent at.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace pawl::bench {

inline constexpr std::size_t kDeltaBytes = 120;

struct HttpServerPlan {
  std::uint64_t deltas = 5;  // of each stream, after the first
  std::int64_t interval_ms = 1'000;
  // How often the server looks who is due. Streams that know nothing of each other do not speak
  // together: what is due since the last look goes out in one burst.
  std::int64_t tick_us = 100;
};

class HttpServerProcess {
 public:
  explicit HttpServerProcess(HttpServerPlan plan);
  ~HttpServerProcess();
  HttpServerProcess(const HttpServerProcess&) = delete;
  HttpServerProcess& operator=(const HttpServerProcess&) = delete;

  std::string url(const std::string& path) const;
  void go() const;

 private:
  pid_t pid_ = -1;
  int orders_ = -1;  // a byte on it is go()
  std::uint16_t port_ = 0;
};

// Of CLOCK_MONOTONIC, which all processes share.
std::int64_t shared_clock_ns();

}  // namespace pawl::bench
