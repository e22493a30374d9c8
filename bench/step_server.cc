#include "bench/step_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <unordered_map>

#include "pawl/result.h"

namespace pawl::bench {
namespace {

constexpr std::string_view kMark = "n=";
constexpr std::size_t kTailBytes = 1024;  // of a request: its mark is there
constexpr std::size_t kReadBytes = 256U << 10U;
constexpr int kReadyAtOnce = 256;
constexpr std::string_view kEventStream =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string event(std::string_view type, const std::string& members) {
  const std::string name(type);
  return "event: " + name + "\ndata: {\"type\":\"" + name + "\"" + members + "}\n\n";
}

std::string reply_events(std::uint64_t made, std::uint64_t steps) {
  const bool last = made + 1 >= steps;
  const std::string number = std::to_string(made + 1);
  std::string all = event(
      "message_start",
      R"(,"message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5",)"
      R"("content":[],"stop_reason":null,"stop_sequence":null,)"
      R"("usage":{"input_tokens":10,"output_tokens":1}})");
  if (last) {
    all += event("content_block_start", R"(,"index":0,"content_block":{"type":"text","text":""})");
    for (const char* word : {"That ", "was ", "all ", "of ", "it."}) {
      all += event("content_block_delta", R"(,"index":0,"delta":{"type":"text_delta","text":")" +
                                              std::string(word) + "\"}");
    }
  } else {
    all += event("content_block_start",
                 R"(,"index":0,"content_block":{"type":"tool_use","id":"toolu_)" + number +
                     R"(","name":"t","input":{}})");
    for (const std::string& part : {R"({\"n\":)" + number + ",", std::string(R"(\"by\":1})")}) {
      all +=
          event("content_block_delta",
                R"(,"index":0,"delta":{"type":"input_json_delta","partial_json":")" + part + "\"}");
    }
  }
  all += event("content_block_stop", R"(,"index":0)");
  all += event("message_delta", std::string(R"(,"delta":{"stop_reason":")") +
                                    (last ? "end_turn" : "tool_use") +
                                    R"(","stop_sequence":null},"usage":{"output_tokens":5})");
  return all + event("message_stop", "");
}

// A request of which the end is kept.
struct Incoming {
  std::string head;
  std::string tail;
  std::size_t left = 0;  // bytes of the body to come
};

class StepServer {
 public:
  StepServer(int listener, std::uint64_t steps)
      : listener_(listener), steps_(steps), epoll_(::epoll_create1(0)), buffer_(kReadBytes, '\0') {
    watch(listener_);
  }

  // Until the process is killed.
  [[noreturn]] void run() {
    for (;;) {
      std::array<epoll_event, kReadyAtOnce> events{};
      const int count = ::epoll_wait(epoll_, events.data(), kReadyAtOnce, -1);
      PAWL_ASSERT(count >= 0 || errno == EINTR);
      for (int i = 0; i < count; ++i) on_ready(events[static_cast<std::size_t>(i)].data.fd);
    }
  }

 private:
  void watch(int fd) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    PAWL_ASSERT(::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0);
  }

  void on_ready(int fd) {
    if (fd == listener_) return accept_one();
    const ssize_t size = ::recv(fd, buffer_.data(), buffer_.size(), 0);
    if (size <= 0) {
      ::close(fd);
      incoming_.erase(fd);
      return;
    }
    on_bytes(fd, incoming_[fd], {buffer_.data(), static_cast<std::size_t>(size)});
  }

  void accept_one() const {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    const int yes = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    watch(fd);
  }

  void on_bytes(int fd, Incoming& request, std::string_view bytes) const {
    if (request.left == 0) {
      request.head += bytes;
      const std::size_t end = request.head.find("\r\n\r\n");
      if (end == std::string::npos) return;
      const std::string body = request.head.substr(end + 4);
      request.left = length_of(request.head);
      request.head.clear();
      return on_body(fd, request, body);
    }
    on_body(fd, request, bytes);
  }

  void on_body(int fd, Incoming& request, std::string_view bytes) const {
    PAWL_ASSERT(bytes.size() <= request.left);  // nobody sends two requests at once
    request.left -= bytes.size();
    request.tail += bytes.substr(bytes.size() - std::min(bytes.size(), kTailBytes));
    if (request.tail.size() > kTailBytes) request.tail.erase(0, request.tail.size() - kTailBytes);
    if (request.left > 0) return;
    answer(fd, std::exchange(request.tail, {}));
  }

  static std::size_t length_of(const std::string& head) {
    for (const char* name : {"Content-Length: ", "content-length: "}) {
      const std::size_t at = head.find(name);
      if (at != std::string::npos) return std::strtoull(head.c_str() + at + 16, nullptr, 10);
    }
    PAWL_ASSERT(false);  // the client states it
    return 0;
  }

  void answer(int fd, const std::string& tail) const {
    const std::size_t at = tail.rfind(kMark);
    PAWL_ASSERT(at != std::string::npos);
    const std::uint64_t made = std::strtoull(tail.c_str() + at + kMark.size(), nullptr, 10);
    const std::string events = reply_events(made, steps_);
    std::array<char, 24> size{};
    std::snprintf(size.data(), size.size(), "%zx\r\n", events.size());
    const std::string whole =
        std::string(kEventStream) + size.data() + events + "\r\n" + "0\r\n\r\n";
    PAWL_ASSERT(::send(fd, whole.data(), whole.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(whole.size()));
  }

  const int listener_;
  const std::uint64_t steps_;
  const int epoll_;
  std::string buffer_;
  std::unordered_map<int, Incoming> incoming_;
};

}  // namespace

std::string step_mark(std::uint64_t next) {
  return std::string(kMark) + std::to_string(next);
}

StepServerProcess::StepServerProcess(std::uint64_t steps) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  PAWL_ASSERT(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  PAWL_ASSERT(::listen(listener, 4096) == 0);
  socklen_t size = sizeof address;
  PAWL_ASSERT(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port_ = ntohs(address.sin_port);
  pid_ = ::fork();
  PAWL_ASSERT(pid_ >= 0);
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    StepServer(listener, steps).run();
  }
  ::close(listener);
}

StepServerProcess::~StepServerProcess() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::string StepServerProcess::url() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

}  // namespace pawl::bench
