#include "bench/http_server.h"

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
#include <ctime>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pawl/result.h"

namespace pawl::bench {
namespace {

constexpr int kEventsAtOnce = 256;
constexpr std::string_view kSmall =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 65\r\n\r\n"
    "{\"id\":\"msg_0123456789\",\"text\":\"a short answer of 65 bytes, fine\"}";
constexpr std::string_view kStreamHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

constexpr std::string_view kMessageHead =
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\","
    "\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5\",\"content\":[],"
    "\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":10,"
    "\"output_tokens\":1}}}\n\nevent: content_block_start\ndata: {\"type\":"
    "\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n";
constexpr std::string_view kMessageTail =
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
    "\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":400}}\n\n"
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

std::string as_chunk(std::string_view bytes) {
  std::array<char, 24> size{};
  std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
  return size.data() + std::string(bytes) + "\r\n";
}

class Server {
 public:
  Server(int listener, int orders, HttpServerPlan plan)
      : listener_(listener),
        orders_(orders),
        plan_(plan),
        tick_{plan.tick_us / 1'000'000, plan.tick_us % 1'000'000 * 1'000},
        epoll_(::epoll_create1(0)) {
    watch(listener_);
    watch(orders_);
  }

  // Until the process is killed.
  [[noreturn]] void run() {
    for (;;) {
      std::array<epoll_event, kEventsAtOnce> events{};
      const int count =
          ::epoll_pwait2(epoll_, events.data(), kEventsAtOnce, going_ ? &tick_ : nullptr, nullptr);
      PAWL_ASSERT(count >= 0 || errno == EINTR);
      for (int i = 0; i < count; ++i) on_ready(events[static_cast<std::size_t>(i)].data.fd);
      if (going_) tick();
    }
  }

 private:
  enum class Words : std::uint8_t { bare, anthropic };
  struct Stream {
    int fd;
    Words words;
    std::uint64_t said = 0;
  };

  void watch(int fd) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    PAWL_ASSERT(::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0);
  }

  void on_ready(int fd) {
    if (fd == listener_) return accept_one();
    if (fd == orders_) return start_ticking();
    std::array<char, 4096> buffer{};
    const ssize_t size = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (size <= 0) {
      ::close(fd);
      requests_.erase(fd);
      return;
    }
    on_bytes(fd, {buffer.data(), static_cast<std::size_t>(size)});
  }

  void accept_one() const {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    const int yes = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    watch(fd);
  }

  // Requests are short, and their ends easy to see: a blank line, or a closing brace behind it.
  void on_bytes(int fd, std::string_view bytes) {
    std::string& request = requests_[fd];
    request += bytes;
    const std::size_t head = request.find("\r\n\r\n");
    if (head == std::string::npos) return;
    const bool has_body = request.starts_with("POST");
    if (has_body && (request.size() == head + 4 || request.back() != '}')) return;
    const Words words = request.starts_with("POST /v1/") ? Words::anthropic : Words::bare;
    requests_.erase(fd);
    if (has_body && words == Words::bare) return say(fd, kSmall);
    say(fd, kStreamHead);
    if (words == Words::anthropic) say(fd, as_chunk(kMessageHead));
    streams_.push_back({fd, words});
    say_delta(streams_.back());
  }

  void start_ticking() {
    char order = 0;
    if (::read(orders_, &order, 1) != 1) ::_exit(0);
    going_ = true;
    began_ns_ = shared_clock_ns();
  }

  // Spread evenly: each stream has its moment in the interval.
  void tick() {
    const std::int64_t passed_ns = shared_clock_ns() - began_ns_;
    const std::uint64_t streams = streams_.size();
    if (streams == 0) return;
    const auto due = static_cast<std::uint64_t>(static_cast<double>(passed_ns) / 1e6 /
                                                static_cast<double>(plan_.interval_ms) *
                                                static_cast<double>(streams));
    for (; said_ < std::min(due, streams * plan_.deltas); ++said_) {
      Stream& stream = streams_[said_ % streams];
      say_delta(stream);
      if (++stream.said == plan_.deltas) end(stream);
    }
  }

  static void say_delta(const Stream& stream) {
    const bool bare = stream.words == Words::bare;
    std::string event = (bare ? "data: " : "") + std::to_string(shared_clock_ns()) + " ";
    event.resize(kDeltaBytes - (bare ? 2 : 0), 'x');
    if (!bare) {
      event = R"(event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":")" +
              event + "\"}}";
    }
    say(stream.fd, as_chunk(event + "\n\n"));
  }

  static void end(const Stream& stream) {
    if (stream.words == Words::anthropic) say(stream.fd, as_chunk(kMessageTail));
    say(stream.fd, "0\r\n\r\n");
  }

  static void say(int fd, std::string_view bytes) {
    PAWL_ASSERT(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(bytes.size()));
  }

  const int listener_;
  const int orders_;
  const HttpServerPlan plan_;
  const timespec tick_;
  const int epoll_;
  std::unordered_map<int, std::string> requests_;
  std::vector<Stream> streams_;
  bool going_ = false;
  std::int64_t began_ns_ = 0;
  std::uint64_t said_ = 0;
};

}  // namespace

std::int64_t shared_clock_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

HttpServerProcess::HttpServerProcess(HttpServerPlan plan) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  PAWL_ASSERT(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  PAWL_ASSERT(::listen(listener, 4096) == 0);
  socklen_t size = sizeof address;
  PAWL_ASSERT(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port_ = ntohs(address.sin_port);
  std::array<int, 2> orders{};
  PAWL_ASSERT(::pipe(orders.data()) == 0);
  pid_ = ::fork();
  PAWL_ASSERT(pid_ >= 0);
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(orders[1]);
    Server(listener, orders[0], plan).run();
  }
  ::close(listener);
  ::close(orders[0]);
  orders_ = orders[1];
}

HttpServerProcess::~HttpServerProcess() {
  ::close(orders_);
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::string HttpServerProcess::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

void HttpServerProcess::go() const {
  PAWL_ASSERT(::write(orders_, "g", 1) == 1);
}

}  // namespace pawl::bench
