// A client for tests of the fake provider: a blocking socket, and nothing that repairs what it
// reads.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::fake {

// How a connection ended for the reader.
enum class ReadEnd : std::uint8_t { enough, closed, reset, patience };

class TestClient {
 public:
  explicit TestClient(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~TestClient() { ::close(fd_); }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  bool connected() const { return connected_; }

  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // Reads until `received` holds `mark` at or behind `from`, or the connection ends.
  ReadEnd read_until(std::string_view mark, std::size_t from = 0) {
    while (received.find(mark, from) == std::string::npos) {
      if (const ReadEnd end = read_some(kPatienceMs); end != ReadEnd::enough) return end;
    }
    return ReadEnd::enough;
  }

  ReadEnd read_to_end() {
    for (;;) {
      if (const ReadEnd end = read_some(kPatienceMs); end != ReadEnd::enough) return end;
    }
  }

  ReadEnd read_some(int patience_ms) {
    pollfd waiting{fd_, POLLIN, 0};
    if (::poll(&waiting, 1, patience_ms) <= 0) return ReadEnd::patience;
    char buffer[65536];
    const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
    if (got == 0) return ReadEnd::closed;
    if (got < 0) return ReadEnd::reset;
    received.append(buffer, static_cast<std::size_t>(got));
    return ReadEnd::enough;
  }

  std::string received;

 private:
  static constexpr int kPatienceMs = 30'000;

  int fd_;
  bool connected_ = false;
};

struct TestReply {
  int status = 0;
  std::string head;
  std::string body;  // without its framing

  std::string header(std::string_view name) const {
    const std::string mark = "\r\n" + std::string(name) + ": ";
    const std::size_t at = head.find(mark);
    if (at == std::string::npos) return {};
    const std::size_t from = at + mark.size();
    return head.substr(from, head.find("\r\n", from) - from);
  }
};

struct Unchunked {
  std::string body;
  std::size_t end = 0;  // behind the last chunk; 0: it has not come yet
};

inline Unchunked unchunked(std::string_view bytes) {
  Unchunked out;
  for (std::size_t at = 0;;) {
    const std::size_t line = bytes.find("\r\n", at);
    if (line == std::string_view::npos) return out;
    const std::size_t size = std::stoul(std::string(bytes.substr(at, line - at)), nullptr, 16);
    const std::size_t next = line + 2 + size + 2;
    if (bytes.size() < next) return out;
    out.body.append(bytes.substr(line + 2, size));
    if (size == 0) out.end = next;
    if (size == 0) return out;
    at = next;
  }
}

// Reads one whole reply and leaves what follows it.
inline TestReply read_reply(TestClient& client) {
  TestReply reply;
  if (client.read_until("\r\n\r\n") != ReadEnd::enough) return reply;
  const std::size_t head_end = client.received.find("\r\n\r\n") + 4;
  reply.head = client.received.substr(0, head_end);
  reply.status = std::stoi(reply.head.substr(9, 3));
  const std::string length = reply.header("content-length");
  std::size_t end = head_end;
  if (!length.empty()) {
    end += std::stoul(length);
    while (client.received.size() < end && client.read_some(30'000) == ReadEnd::enough) {
    }
    reply.body = client.received.substr(head_end, end - head_end);
  } else {
    Unchunked got = unchunked(std::string_view(client.received).substr(head_end));
    while (got.end == 0 && client.read_some(30'000) == ReadEnd::enough) {
      got = unchunked(std::string_view(client.received).substr(head_end));
    }
    end += got.end;
    reply.body = std::move(got.body);
  }
  client.received.erase(0, end);
  return reply;
}

inline std::string request_text(std::string_view method, std::string_view target,
                                std::string_view body,
                                const std::vector<std::pair<std::string, std::string>>& headers) {
  std::string out = std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nhost: x\r\n";
  for (const auto& [name, value] : headers) out += name + ": " + value + "\r\n";
  if (!body.empty()) out += "content-length: " + std::to_string(body.size()) + "\r\n";
  return out + "\r\n" + std::string(body);
}

inline const std::vector<std::pair<std::string, std::string>> kAnthropicHeaders = {
    {"x-api-key", "sk-ant-test"}, {"anthropic-version", "2023-06-01"}};
inline const std::vector<std::pair<std::string, std::string>> kOpenaiHeaders = {
    {"authorization", "Bearer sk-test"}};
inline const std::vector<std::pair<std::string, std::string>> kGeminiHeaders = {
    {"x-goog-api-key", "AIza-test"}};

}  // namespace pawl::fake
