#include "pawl/adapter/http_curl/h2_session.h"

#include <doctest/doctest.h>

#include <list>
#include <map>
#include <optional>

namespace pawl::http_curl {
namespace {

// nghttp2 as a server, in memory, that does what a test says.
class MemoryServer {
 public:
  explicit MemoryServer(std::uint32_t streams = 100) {
    nghttp2_session_callbacks* told = nullptr;
    nghttp2_session_callbacks_new(&told);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        told, [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                 std::size_t bytes, void* self) {
          static_cast<MemoryServer*>(self)->bodies[id].append(reinterpret_cast<const char*>(data),
                                                              bytes);
          return 0;
        });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        told, [](nghttp2_session*, std::int32_t id, std::uint32_t error, void* self) {
          static_cast<MemoryServer*>(self)->closed[id] = error;
          return 0;
        });
    nghttp2_session_server_new(&session, told, this);
    nghttp2_session_callbacks_del(told);
    const nghttp2_settings_entry allowed = {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams};
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, &allowed, 1);
  }
  ~MemoryServer() { nghttp2_session_del(session); }
  MemoryServer(const MemoryServer&) = delete;
  MemoryServer& operator=(const MemoryServer&) = delete;

  void answer(std::int32_t id, std::string body) {
    static constexpr std::uint8_t kName[] = ":status";
    static constexpr std::uint8_t kValue[] = "200";
    nghttp2_nv status = {const_cast<std::uint8_t*>(kName), const_cast<std::uint8_t*>(kValue), 7, 3,
                         NGHTTP2_NV_FLAG_NONE};
    answers[id] = std::move(body);
    nghttp2_data_provider provider = {};
    provider.read_callback = [](nghttp2_session*, std::int32_t stream, std::uint8_t* to,
                                std::size_t room, std::uint32_t* flags, nghttp2_data_source*,
                                void* self) -> ssize_t {
      std::string& left = static_cast<MemoryServer*>(self)->answers[stream];
      const std::size_t part = left.copy(reinterpret_cast<char*>(to), room);
      left.erase(0, part);
      if (left.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
      return static_cast<ssize_t>(part);
    };
    nghttp2_submit_response(session, id, &status, 1, &provider);
  }

  // Everything both have to say, until neither has anything. What the server said may be lost.
  void talk(H2Session& client) {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::string_view out = client.output(); !out.empty(); out = client.output()) {
        REQUIRE(nghttp2_session_mem_recv(session, reinterpret_cast<const std::uint8_t*>(out.data()),
                                         out.size()) == static_cast<ssize_t>(out.size()));
        client.on_sent(out.size());
        moved = true;
      }
      const std::uint8_t* data = nullptr;
      for (ssize_t bytes = nghttp2_session_mem_send(session, &data); bytes > 0;
           bytes = nghttp2_session_mem_send(session, &data)) {
        REQUIRE(
            client.receive({reinterpret_cast<const char*>(data), static_cast<std::size_t>(bytes)}));
        moved = true;
      }
    }
  }

  nghttp2_session* session = nullptr;
  std::map<std::int32_t, std::string> bodies;   // of requests
  std::map<std::int32_t, std::string> answers;  // that are left to send
  std::map<std::int32_t, std::uint32_t> closed;
};

struct Taker final : StreamTaker {
  Taken on_stream_line(std::string_view line) override {
    lines += line;
    return wants;
  }
  Taken on_stream_body(std::string_view bytes) override {
    if (wants == Taken::all) body += bytes;
    return wants;
  }
  void on_stream_end(StreamEnd how) override {
    CHECK(!end);
    end = how;
  }
  Taken wants = Taken::all;
  std::string lines;
  std::string body;
  std::optional<StreamEnd> end;
};

const H2Head kHead = {
    {":method", "POST"}, {":scheme", "https"}, {":authority", "host"}, {":path", "/"}};

TEST_CASE("a stream: request, head as lines, body, end") {
  MemoryServer server;
  H2Session client;
  CHECK(client.room() == 0);  // the server has not said anything
  server.talk(client);
  CHECK(client.ready());
  CHECK(client.room() == kStreamsPerLink);
  Taker taker;
  HttpBody request(std::string(100'000, 'r'));
  for (const char* part : {"a", "bc"}) request.append(part);
  request.append(std::string(100'000, 's'));
  const auto id = client.submit(taker, kHead, request);
  REQUIRE(id);
  server.talk(client);
  CHECK((server.bodies[*id] == request.whole()));
  CHECK(client.sent(*id) == request.size());
  server.answer(*id, "hello");
  server.talk(client);
  CHECK(taker.lines == "HTTP/2 200\r\n\r\n");
  CHECK(taker.body == "hello");
  CHECK(taker.end == StreamTaker::StreamEnd::complete);
  client.cancel(*id);
  CHECK(client.streams() == 0);
  server.talk(client);
  CHECK(server.closed[*id] == NGHTTP2_NO_ERROR);
}

TEST_CASE("what is not wanted yet is kept, within the window, and the others go on") {
  MemoryServer server;
  H2Session client;
  server.talk(client);
  Taker slow;
  Taker other;
  slow.wants = StreamTaker::Taken::later;
  const auto one = client.submit(slow, kHead, {});
  const auto two = client.submit(other, kHead, {});
  REQUIRE(one);
  REQUIRE(two);
  server.talk(client);
  const std::string body(4 * kStreamWindowBytes, 'x');
  server.answer(*one, body);
  server.answer(*two, body + body);
  server.talk(client);
  CHECK((other.body == body + body));
  CHECK(slow.body.empty());
  CHECK(server.answers[*one].size() == body.size() - kStreamWindowBytes);  // it was made to wait
  slow.wants = StreamTaker::Taken::all;
  client.resume(*one);
  server.talk(client);
  CHECK((slow.body == body));
  CHECK(slow.end == StreamTaker::StreamEnd::complete);
}

TEST_CASE("an end that comes while nothing is wanted is told after the rest") {
  MemoryServer server;
  H2Session client;
  server.talk(client);
  Taker taker;
  taker.wants = StreamTaker::Taken::later;
  const auto id = client.submit(taker, kHead, {});
  REQUIRE(id);
  server.talk(client);
  server.answer(*id, "all of it");
  server.talk(client);
  CHECK(!taker.end);
  client.resume(*id);
  CHECK(!taker.end);  // still not wanted
  taker.wants = StreamTaker::Taken::all;
  client.end_all();  // the connection's end changes nothing about it
  CHECK(!taker.end);
  client.resume(*id);
  CHECK(taker.body == "all of it");
  CHECK(taker.end == StreamTaker::StreamEnd::complete);
}

TEST_CASE("streams that the server does not take: refused, reset, left behind") {
  MemoryServer server;
  H2Session client;
  server.talk(client);
  std::list<Taker> takers(4);
  std::vector<std::int32_t> ids;
  for (Taker& taker : takers) ids.push_back(client.submit(taker, kHead, {}).value());
  server.talk(client);
  nghttp2_submit_rst_stream(server.session, NGHTTP2_FLAG_NONE, ids[0], NGHTTP2_REFUSED_STREAM);
  nghttp2_submit_rst_stream(server.session, NGHTTP2_FLAG_NONE, ids[1], NGHTTP2_HTTP_1_1_REQUIRED);
  nghttp2_submit_rst_stream(server.session, NGHTTP2_FLAG_NONE, ids[2], NGHTTP2_NO_ERROR);
  nghttp2_submit_goaway(server.session, NGHTTP2_FLAG_NONE, ids[2], NGHTTP2_NO_ERROR, nullptr, 0);
  server.talk(client);
  auto taker = takers.begin();
  CHECK((taker++)->end == StreamTaker::StreamEnd::refused);
  CHECK((taker++)->end == StreamTaker::StreamEnd::too_new);
  CHECK((taker++)->end == StreamTaker::StreamEnd::broken);   // no end of a response was seen
  CHECK((taker++)->end == StreamTaker::StreamEnd::refused);  // beyond the last it will look at
  CHECK(client.leaving());
  CHECK(client.room() == 0);
  Taker late;
  CHECK(!client.submit(late, kHead, {}));
}

TEST_CASE("a connection that ends: broken, or refused where it had been given up before") {
  H2Session fresh;
  MemoryServer server;
  server.talk(fresh);
  Taker first;
  REQUIRE(fresh.submit(first, kHead, {}));
  server.talk(fresh);
  fresh.end_all();
  CHECK(first.end == StreamTaker::StreamEnd::broken);

  MemoryServer again;
  H2Session used;
  again.talk(used);
  Taker done;
  const auto id = used.submit(done, kHead, {});
  REQUIRE(id);
  again.talk(used);
  again.answer(*id, "x");
  again.talk(used);
  used.cancel(*id);
  Taker next;
  REQUIRE(used.submit(next, kHead, {}));
  used.end_all();
  CHECK(next.end == StreamTaker::StreamEnd::refused);
}

TEST_CASE("a cancelled stream is reset, and gives its part of the window back") {
  MemoryServer server;
  H2Session client;
  server.talk(client);
  // More than the connection's window in all.
  for (int i = 0; i < 400; ++i) {
    Taker taker;
    taker.wants = StreamTaker::Taken::later;
    const auto id = client.submit(taker, kHead, {});
    REQUIRE(id);
    server.talk(client);
    server.answer(*id, std::string(kStreamWindowBytes, 'x') + "more");
    server.talk(client);
    CHECK(server.answers[*id].size() == 4);
    client.cancel(*id);
    server.talk(client);
    CHECK(server.closed[*id] == NGHTTP2_CANCEL);
  }
  Taker taker;
  const auto id = client.submit(taker, kHead, {});
  REQUIRE(id);
  server.talk(client);
  server.answer(*id, std::string(1'000'000, 'y'));
  server.talk(client);
  CHECK(taker.body.size() == 1'000'000);
}

TEST_CASE("a server that allows few streams, and one that speaks something else") {
  MemoryServer server(3);
  H2Session client;
  server.talk(client);
  CHECK(client.room() == 3);
  Taker taker;
  REQUIRE(client.submit(taker, kHead, {}));
  CHECK(client.room() == 2);

  H2Session other;
  CHECK(!other.over());
  const Status taken = other.receive("HTTP/1.1 400 Bad Request\r\n\r\n");
  while (!other.output().empty()) other.on_sent(other.output().size());
  CHECK((!taken || other.over()));
  CHECK(!other.ready());
}

}  // namespace
}  // namespace pawl::http_curl
