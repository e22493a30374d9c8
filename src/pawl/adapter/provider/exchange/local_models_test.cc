#include "pawl/adapter/provider/exchange/local_models.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace pawl {
namespace {

const std::string kHead = "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n";

// Answers one connection, or takes it and says nothing.
class OneAnswer {
 public:
  enum class Manner : std::uint8_t { answers, is_silent };
  OneAnswer(std::string answer, Manner manner) : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(listener_, 1) == 0);
    socklen_t size = sizeof address;
    REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    url = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    server_ = std::thread([this, answer = std::move(answer), manner] {
      const int peer = ::accept(listener_, nullptr, nullptr);
      char request[512];
      (void)!::read(peer, request, sizeof request);
      if (manner == Manner::answers) (void)!::write(peer, answer.data(), answer.size());
      // The silent one waits until the other side gives up.
      if (manner == Manner::is_silent) (void)!::read(peer, request, sizeof request);
      ::close(peer);
    });
  }
  ~OneAnswer() {
    server_.join();
    ::close(listener_);
  }
  OneAnswer(const OneAnswer&) = delete;
  OneAnswer& operator=(const OneAnswer&) = delete;

  std::string url;

 private:
  int listener_;
  std::thread server_;
};

TEST_CASE("the first model of a local server is found") {
  const OneAnswer server(kHead + R"({"models":[{"name":"qwen3:8b","size":1},{"name":"b"}]})",
                         OneAnswer::Manner::answers);
  CHECK(find_local_model(server.url) == "qwen3:8b");
}

TEST_CASE("a server that says nothing is not waited for") {
  const OneAnswer server("", OneAnswer::Manner::is_silent);
  CHECK_FALSE(find_local_model(server.url));
}

TEST_CASE("nobody but loopback is asked") {
  for (const char* const url :
       {"http://10.0.0.1:11434", "https://127.0.0.1:1", "http://127.0.0.1.evil.example:1",
        "http://localhost.evil.example", "http://127.0.0.1:99999", "http://[::2]:1", ""}) {
    CAPTURE(url);
    CHECK_FALSE(find_local_model(url));
  }
}

TEST_CASE("an answer that is none gives no model") {
  CHECK_FALSE(first_model_in(""));
  CHECK_FALSE(first_model_in(kHead));
  CHECK_FALSE(first_model_in(kHead + "[]"));
  CHECK_FALSE(first_model_in(kHead + R"({"models":[]})"));
  CHECK_FALSE(first_model_in(kHead + R"({"models":[{"name":"a,b"},{"name":7},3]})"));
  CHECK_FALSE(first_model_in("HTTP/1.1 404 Not Found\r\n\r\n{\"models\":[{\"name\":\"a\"}]}"));
  CHECK(first_model_in(kHead + R"({"models":[{"name":""},{"name":"a"}]})") == "a");
}

}  // namespace
}  // namespace pawl
