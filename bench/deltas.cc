// What a delta costs when they come back to back.
//   pawl_bench_deltas read DELTAS ROUNDS     from bytes in memory: splitter, decoder, assembler
//   pawl_bench_deltas stream DELTAS ROUNDS   one response over loopback, through the executor
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "bench/anthropic_at.h"
#include "bench/meter.h"
#include "pawl/adapter/epoll/epoll_loop.h"
#include "pawl/adapter/http_curl/curl_client.h"
#include "pawl/adapter/provider/dialect.h"
#include "pawl/adapter/provider/exchange/exchange.h"
#include "pawl/result.h"
#include "pawl/run/model/reply_assembler.h"

namespace pawl::bench {
namespace {

constexpr std::size_t kReadBytes = 16'384;  // as libcurl hands them on
constexpr std::string_view kWord = " word";

std::string event(std::string_view type, std::string_view rest) {
  return fmt::format("event: {}\ndata: {{\"type\":\"{}\"{}}}\n\n", type, type, rest);
}

// One reply of Anthropic's, a word a delta, as its server writes it.
std::string reply_of(std::uint64_t deltas) {
  std::string text =
      event("message_start", R"(,"message":{"id":"msg_1","type":"message","role":"assistant",)"
                             R"("model":"claude-sonnet-4-5","content":[],"stop_reason":null,)"
                             R"("usage":{"input_tokens":10,"output_tokens":1}})");
  text += event("content_block_start", R"(,"index":0,"content_block":{"type":"text","text":""})");
  const std::string one =
      event("content_block_delta",
            R"(,"index":0,"delta":{"type":"text_delta","text":")" + std::string(kWord) + R"("})");
  text.reserve(text.size() + deltas * one.size() + 1'000);
  for (std::uint64_t i = 0; i < deltas; ++i) text += one;
  text += event("content_block_stop", R"(,"index":0)");
  text += event("message_delta",
                R"(,"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":100})");
  return text + event("message_stop", "");
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// What the driver has of a phase, with a watcher that counts.
struct Assembly {
  ToolRegistry tools = *ToolRegistry::make({});
  std::uint64_t previews = 0;
  std::uint64_t preview_bytes = 0;
  ReplyAssembler reply{tools,
                       [this](Preview::Kind, std::uint64_t, const std::string& text) {
                         ++previews;
                         preview_bytes += text.size();
                       },
                       0};
  bool over = false;

  void add(PhaseExecutorEvent&& event) { over = reply.add(std::move(event)) || over; }
  void check(std::uint64_t deltas) const {
    PAWL_ASSERT(previews == deltas);
    PAWL_ASSERT(preview_bytes == deltas * kWord.size());
    PAWL_ASSERT(reply.text().size() == deltas * kWord.size());
  }
};

void read_once(const std::string& bytes, std::uint64_t deltas) {
  using namespace provider;
  Assembly assembly;
  const auto dialect = make_anthropic_dialect();
  const auto decoder = dialect->decoder({}, {});
  const auto splitter = make_sse_splitter();
  const PhaseEventSink sink = [&](PhaseExecutorEvent&& event) { assembly.add(std::move(event)); };
  const WireEventSink on_event = [&](std::string_view type, std::string_view data) {
    return decoder->on_event(type, data, sink);
  };
  const std::string_view all = bytes;
  for (std::size_t at = 0; at < all.size(); at += kReadBytes) {
    PAWL_ASSERT(splitter->feed(all.substr(at, kReadBytes), on_event).has_value());
  }
  PAWL_ASSERT(decoder->complete());
  assembly.check(deltas);
}

// Answers every connection with the same bytes, as fast as they are taken.
class Server {
 public:
  explicit Server(const std::string& body) {
    const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    PAWL_ASSERT(listening >= 0 && ::bind(listening, plain, length) == 0);
    PAWL_ASSERT(::listen(listening, 8) == 0 && ::getsockname(listening, plain, &length) == 0);
    port_ = ntohs(address.sin_port);
    pid_ = ::fork();
    PAWL_ASSERT(pid_ >= 0);
    if (pid_ == 0) serve(listening, body);
    ::close(listening);
  }
  ~Server() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }

 private:
  [[noreturn]] static void serve(int listening, const std::string& body) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const std::string answer = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n" +
                               fmt::format("content-length: {}\r\n\r\n", body.size()) + body;
    while (true) {
      const int taken = ::accept(listening, nullptr, nullptr);
      if (taken < 0) continue;
      char request[16'384];
      while (::read(taken, request, sizeof request) > 0) {  // small enough for one read
        std::size_t sent = 0;
        while (sent < answer.size()) {
          const ssize_t count =
              ::send(taken, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
          if (count <= 0) break;
          sent += static_cast<std::size_t>(count);
        }
      }
      ::close(taken);
    }
  }

  pid_t pid_ = -1;
  std::uint16_t port_ = 0;
};

class Asking {
 public:
  explicit Asking(const std::string& url) {
    executor_ = make_provider_executor(anthropic_at(url), loop_, client_);
  }
  void ask(std::uint64_t deltas) {
    Assembly assembly;
    ChatRequest request;
    request.model = "claude-sonnet-4-5";
    request.messages = {{Role::user, "Go."}};
    const auto operation = executor_->chat(
        request, [&](PhaseExecutorEvent&& event) { assembly.add(std::move(event)); });
    loop_.run_until([&] { return assembly.over; });
    assembly.check(deltas);
  }

 private:
  EpollLoop loop_;
  std::shared_ptr<HttpClient> client_ = make_curl_client(loop_);
  std::shared_ptr<Executor> executor_;
};

void measure(std::string_view what, std::uint64_t deltas, int rounds,
             const std::function<void()>& once) {
  once();  // what the first one needs
  std::vector<double> taken_us;
  for (int round = 0; round < rounds; ++round) {
    const double before = cpu_s();
    once();
    taken_us.push_back((cpu_s() - before) / static_cast<double>(deltas) * 1e6);
  }
  fmt::print("{}: {:.2f} us of CPU a delta, best {:.2f} (median of {} rounds of {})\n", what,
             median(taken_us), *std::min_element(taken_us.begin(), taken_us.end()), rounds, deltas);
}

}  // namespace
}  // namespace pawl::bench

int main(int argc, char** argv) {
  using namespace pawl::bench;
  const std::string what = argc == 4 ? argv[1] : "";
  if (what != "read" && what != "stream") {
    fmt::print(stderr, "see the top of bench/deltas.cc\n");
    return 2;
  }
  const std::uint64_t deltas = std::strtoull(argv[2], nullptr, 10);
  const int rounds = static_cast<int>(std::strtoul(argv[3], nullptr, 10));
  const std::string bytes = reply_of(deltas);
  if (what == "read") {
    measure("read from memory", deltas, rounds, [&] { read_once(bytes, deltas); });
    return 0;
  }
  const Server server(bytes);
  Asking asking(server.url());
  measure("one stream over loopback", deltas, rounds, [&] { asking.ask(deltas); });
  return 0;
}
