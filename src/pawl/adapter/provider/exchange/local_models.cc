#include "pawl/adapter/provider/exchange/local_models.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <string_view>

#include "pawl/json.h"

namespace pawl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kScheme = "http://";
constexpr std::size_t kListedNameBytesMax = 200;

struct Place {
  bool six = false;
  std::uint16_t port = 11434;
};

// Addresses of loopback by their numbers or by the name of it; names are not looked up.
std::optional<Place> loopback_place(std::string_view url) {
  if (!url.starts_with(kScheme)) return std::nullopt;
  url.remove_prefix(kScheme.size());
  url = url.substr(0, url.find('/'));
  Place place;
  std::string_view port;
  for (const std::string_view host : {"127.0.0.1", "localhost", "[::1]"}) {
    if (!url.starts_with(host)) continue;
    place.six = host.front() == '[';
    port = url.substr(host.size());
    if (port.empty()) return place;
    if (port.front() != ':') return std::nullopt;
    port.remove_prefix(1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), place.port);
    if (error != std::errc{} || end != port.data() + port.size()) return std::nullopt;
    return place;
  }
  return std::nullopt;
}

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return fd_; }

  bool wait(short events, Clock::time_point deadline) const {
    for (;;) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) return false;
      pollfd one{fd_, events, 0};
      const int ready = ::poll(&one, 1, static_cast<int>(left));
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return false;
    }
  }

 private:
  int fd_;
};

bool connect_to(const Socket& socket, const Place& place, Clock::time_point deadline) {
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(place.port);
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(place.port);
  six.sin6_addr = in6addr_loopback;
  const auto* address = place.six ? reinterpret_cast<const sockaddr*>(&six)
                                  : reinterpret_cast<const sockaddr*>(&four);
  const socklen_t size = place.six ? sizeof six : sizeof four;
  if (::connect(socket.get(), address, size) == 0) return true;
  if (errno != EINPROGRESS || !socket.wait(POLLOUT, deadline)) return false;
  int error = 0;
  socklen_t length = sizeof error;
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0;
}

// HTTP/1.0: the answer ends with the connection, and is not chunked.
std::optional<std::string> ask(const Place& place) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(kLocalProbeMs);
  const Socket socket(
      ::socket(place.six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() < 0 || !connect_to(socket, place, deadline)) return std::nullopt;
  constexpr std::string_view kRequest = "GET /api/tags HTTP/1.0\r\nHost: localhost\r\n\r\n";
  const ssize_t sent = ::send(socket.get(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(kRequest.size())) return std::nullopt;
  std::string response;
  char piece[4096];
  while (response.size() < kLocalProbeBytesMax && socket.wait(POLLIN, deadline)) {
    const ssize_t got = ::recv(socket.get(), piece, sizeof piece, 0);
    if (got == 0) return response;
    if (got < 0) return std::nullopt;
    response.append(piece, static_cast<std::size_t>(got));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> first_model_in(const std::string& response) {
  const bool fine = response.starts_with("HTTP/1.1 200 ") || response.starts_with("HTTP/1.0 200 ");
  const std::size_t head = response.find("\r\n\r\n");
  if (!fine || head == std::string::npos) return std::nullopt;
  const auto json = parse_json(std::string_view(response).substr(head + 4));
  if (!json || !json->is_object()) return std::nullopt;
  const Json* models = json->object().find("models");
  if (models == nullptr || !models->is_array()) return std::nullopt;
  for (const Json& model : models->array()) {
    if (!model.is_object()) continue;
    const Json* name = model.object().find("name");
    const std::string* text = name == nullptr ? nullptr : name->if_string();
    if (text == nullptr || text->empty() || text->size() > kListedNameBytesMax) continue;
    // What would be taken for a chain is no name.
    if (text->find_first_of(", \t\r\n") == std::string::npos) return *text;
  }
  return std::nullopt;
}

std::optional<std::string> find_local_model(const std::string& base_url) {
  const auto place = loopback_place(base_url);
  if (!place) return std::nullopt;
  const auto response = ask(*place);
  return response ? first_model_in(*response) : std::nullopt;
}

}  // namespace pawl
