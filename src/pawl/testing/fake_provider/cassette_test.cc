#include "pawl/testing/fake_provider/cassette.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "pawl/base/shared_data_test.h"
#include "pawl/testing/fake_provider/fake_provider.h"
#include "pawl/testing/fake_provider/server/client_test_support.h"

namespace pawl::fake {
namespace {

std::vector<Recording> read(std::string_view text) {
  auto recordings = read_cassette(text);
  REQUIRE_MESSAGE(recordings, recordings.error().message);
  return *std::move(recordings);
}

std::unique_ptr<FakeProvider> playing(std::vector<Recording> recordings) {
  FakeProviderOptions options;
  options.replay = std::move(recordings);
  auto provider = FakeProvider::start(std::move(options));
  REQUIRE(provider);
  return *std::move(provider);
}

TestReply ask(const FakeProvider& provider, const std::string& method, const std::string& target,
              const std::string& body) {
  TestClient client(provider.port());
  REQUIRE(client.send(request_text(method, target, body, {})));
  return read_reply(client);
}

Recording recording(std::string body, std::vector<std::string> pieces) {
  Recording out;
  out.method = "POST";
  out.path = "/v1/x";
  out.digest = body_digest(body);
  out.request_body = std::move(body);
  out.headers = {{"content-type", "text/event-stream"}, {"request-id", "r1"}};
  out.pieces = std::move(pieces);
  return out;
}

TEST_CASE("neither spaces nor the order of members make another body") {
  CHECK(body_digest(R"({"a":1,"b":[{"c":2,"d":3}]})") ==
        body_digest(R"( { "b" : [ { "d":3, "c":2 } ], "a":1 } )"));
  CHECK(body_digest(R"({"a":1})") != body_digest(R"({"a":2})"));
  CHECK(body_digest(R"([1,2])") != body_digest(R"([2,1])"));
  CHECK(body_digest("no json") != body_digest("no json "));
}

TEST_CASE(
    "the path of an address is what stands before its query, even where only the query has a "
    "slash") {
  const auto path_at = [](const std::string& uri) {
    return read(R"([{"request":{"method":"POST","uri":")" + uri +
                R"("},"response":{"status":200,"body":"x"}}])")
        .at(0)
        .path;
  };
  CHECK(path_at("https://host/v1/x?y=/z") == "/v1/x");
  CHECK(path_at("/v1/x?y") == "/v1/x");
  CHECK(path_at("https://host") == "/");
  CHECK(path_at("https://host?x/1") == "/");
  CHECK(path_at("/v1/x?to=https://host/other") == "/v1/x");
}

TEST_CASE("what is written is read back, bytes that are not UTF-8 too") {
  const Recording written = recording("{}", {"data: 1\n\n", "\xFF\xFE", ""});

  const auto read_back = read(std::string(kCassetteHeading) + "\n" + to_line(written));

  REQUIRE(read_back.size() == 1);
  CHECK(read_back[0].pieces == written.pieces);
  CHECK(read_back[0].digest == written.digest);
  CHECK(read_back[0].headers == written.headers);
  CHECK(read_back[0].status == 200);
}

TEST_CASE("a file that is no cassette is refused with the place") {
  for (const std::string_view text : {"[1]", "{}\n", "[{\"request\":{},\"response\":{}}]", "[",
                                      R"({"request":{"method":"GET","path":"/"},"response":{}})"}) {
    const auto result = read_cassette(text);
    REQUIRE_MESSAGE(!result, text);
    CHECK_MESSAGE(!result.error().message.empty(), text);
  }
  const auto second = read_cassette(std::string(kCassetteHeading) + "\nnonsense\n");
  REQUIRE(!second);
  CHECK(second.error().message.starts_with("line 2: "));
}

TEST_CASE("requests find their recordings by body, then in order, and else are named") {
  const auto provider =
      playing({recording(R"({"n":1})", {"one"}), recording(R"({"n":2})", {"two"}),
               recording(R"({"n":2})", {"two again"}), recording(R"({"n":3})", {"three"})});

  CHECK(ask(*provider, "POST", "/v1/x?beta=true", R"({"n": 2})").body == "two");
  CHECK(ask(*provider, "POST", "/v1/x", R"({"n":2})").body == "two again");
  CHECK(ask(*provider, "POST", "/v1/x", R"({"n":2})").body == "two");
  CHECK(ask(*provider, "POST", "/v1/x", R"({"n":9})").body == "one");
  CHECK(ask(*provider, "POST", "/v1/x", R"({"n":9})").body == "three");
  const TestReply none = ask(*provider, "POST", "/v1/x", R"({"n":9})");
  CHECK(none.status == 404);
  CHECK(none.body.find("no recording of POST /v1/x with the body digest " +
                       body_digest(R"({"n":9})")) != std::string::npos);
  CHECK(ask(*provider, "GET", "/v1/x", "").status == 404);
}

TEST_CASE("the pieces of a body are the chunks of the reply") {
  const auto provider = playing({recording("{}", {"data: a\n", "\ndata: b\n\n"})});
  TestClient client(provider->port());
  REQUIRE(client.send(request_text("POST", "/v1/x", "{}", {})));

  CHECK(client.read_until("0\r\n\r\n") == ReadEnd::enough);
  CHECK(client.received.ends_with("8\r\ndata: a\n\r\na\r\n\ndata: b\n\n\r\n0\r\n\r\n"));
  CHECK(client.received.find("\r\nrequest-id: r1\r\n") != std::string::npos);
}

// Every recorded exchange with a provider comes out of the server as it went in.
TEST_CASE("recorded traffic is replayed byte for byte") {
  const std::filesystem::path traffic = shared_data() / "traffic";
  if (!std::filesystem::exists(traffic)) {
    MESSAGE("skipped: there is no " << traffic.string());
    return;
  }
  std::size_t exchanges = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(traffic)) {
    const std::string folder = entry.path().parent_path().filename().string();
    if (entry.path().extension() != ".json" || folder.ends_with("-json")) continue;
    const auto recordings = read(shared_file(entry.path()));
    const auto provider = playing(recordings);
    for (const Recording& each : recordings) {
      if (each.method != "POST") continue;
      const TestReply reply = ask(*provider, "POST", each.path, each.request_body);
      std::string body;
      for (const std::string& piece : each.pieces) body += piece;
      CHECK_MESSAGE(reply.status == each.status, entry.path().string());
      const bool same = reply.body == body;  // Nobody wants to read them both.
      CHECK_MESSAGE(same, entry.path().string());
      ++exchanges;
    }
  }
  CHECK(exchanges > 100);
}

}  // namespace
}  // namespace pawl::fake
