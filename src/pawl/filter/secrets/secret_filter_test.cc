#include "pawl/filter/secrets/secret_filter.h"

#include <doctest/doctest.h>

#include "pawl/base/base64.h"
#include "pawl/base/rng.h"
#include "pawl/json.h"

namespace pawl {
namespace {

const std::string kKey = "sk-ant-api03-a/B+c\"d\\e~9Zz_0123456789";
constexpr const char* kHandle = "[[pawl-secret:KEY]]";

struct Stage {
  std::shared_ptr<KnownSecrets> known = std::make_shared<KnownSecrets>();
  SecretFilter filter{known};

  explicit Stage(const std::string& value = kKey) { known->add("KEY", value); }

  std::string in_pieces(const std::string& text, std::size_t size) const {
    const auto stream = filter.stream();
    std::string out;
    for (std::size_t at = 0; at < text.size(); at += size)
      out += stream->feed(text.substr(at, size));
    return out + stream->finish();
  }
};

std::string hex(const std::string& text, const char* format) {
  std::string out;
  std::array<char, 8> digits{};
  for (const char c : text) {
    std::snprintf(digits.data(), digits.size(), format, static_cast<unsigned char>(c));
    out += digits.data();
  }
  return out;
}

std::string json(const std::string& text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

// The ways in which a value may come along (sc-K02).
std::vector<std::string> disguises() {
  std::string wrapped = to_base64("user:" + kKey + kKey);
  for (std::size_t at = 20; at < wrapped.size(); at += 21) wrapped.insert(at, "\n");
  return {kKey,
          hex(kKey, "%02x"),
          hex(kKey, "%02X"),
          hex(kKey, "%%%02x"),
          hex(kKey, "%%%02X"),
          hex(kKey, "%%25%02X"),
          hex(kKey, "\\u%04x"),
          hex(kKey, "\\u%04X"),
          hex(kKey, "\\\\u%04x"),
          hex(kKey, "\\x%02x"),
          to_base64(kKey),
          to_base64("x" + kKey),
          to_base64("xy" + kKey + "z"),
          wrapped,
          json(kKey),
          json(json(json(kKey))),
          json("key: " + to_base64(kKey)),
          kKey.substr(0, 10) + "\n" + kKey.substr(10),
          "\n" + kKey + "\r\n"};
}

TEST_CASE("a key of many lines is found however tools show its lines") {
  const std::vector<std::string> lines = {
      "-----BEGIN PRIVATE KEY-----", "MC4CAQAwBQYDK2VwBCIEIHr7Qz0bTz8xq1n2vW5uYd3L",
      "kJ9sT4pXw6aE0mRfB7hUoVtZ2cN8yGiDq5lS1jPx+A/=", "-----END PRIVATE KEY-----"};
  std::string key;
  for (const std::string& line : lines) key += line + "\n";
  const auto known = std::make_shared<KnownSecrets>();
  REQUIRE(known->add("TLS_KEY", key) == Learned::added);
  const SecretFilter filter(known);
  std::string numbered;
  std::string matched;
  std::string changed;
  std::string quoted = "\"";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    numbered += "     " + std::to_string(i + 1) + "\t" + lines[i] + "\n";
    matched += "key.pem:" + std::to_string(i + 1) + ":" + lines[i] + "\n";
    changed += "+" + lines[i] + "\n";
    quoted += lines[i] + "\\n";
  }
  for (const std::string& text : {key, numbered, matched, changed, quoted}) {
    const std::string safe = filter.ingress(text);
    INFO(safe);
    CHECK(safe.find(lines[1].substr(4, 20)) == std::string::npos);
    CHECK(safe.find(lines[2].substr(4, 20)) == std::string::npos);
    CHECK(safe.find("[[pawl-secret:TLS_KEY]]") != std::string::npos);
  }
  CHECK(filter.ingress(numbered).find(lines[0]) != std::string::npos);  // The frame is no secret.
  // The variable may hold the line ends as two characters.
  const auto flat = std::make_shared<KnownSecrets>();
  REQUIRE(flat->add("FLAT", lines[0] + "\\n" + lines[1] + "\\n" + lines[2]) == Learned::added);
  CHECK(SecretFilter(flat).ingress(numbered).find(lines[1]) == std::string::npos);
}

TEST_CASE("of a line of a key that was cut at most three bytes are left at either end") {
  const std::string first = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCr0Tz8xq1n2vW5";
  const std::string second = "uYd3LkJ9sT4pXw6aE0mRfB7hUoVtZ2cN8yGiDq5lS1jPxMC4CAQAwBQYDK2VwBCI";
  const auto known = std::make_shared<KnownSecrets>();
  REQUIRE(known->add("KEY", "-----BEGIN PRIVATE KEY-----\n" + first + "\n" + second +
                                "\n-----END PRIVATE KEY-----\n") == Learned::added);
  const SecretFilter filter(known);
  const std::string handle = "[[pawl-secret:KEY]]";
  for (std::size_t from = 0; from < 20; ++from) {
    for (std::size_t to = from + 22; to <= second.size(); ++to) {
      const std::string safe = filter.ingress("(" + second.substr(from, to - from) + ")");
      REQUIRE(safe.find(handle) != std::string::npos);
      CHECK(safe.size() <= handle.size() + 2 + 3 + 3);
    }
  }
  // `diff -y` shows 61 bytes of each.
  const std::string beside = second.substr(0, 61);
  const std::string two = filter.ingress(beside + " | " + beside + "\n");
  CHECK(two.find(second.substr(4, 8)) == std::string::npos);
  CHECK(two.find(second.substr(50, 8)) == std::string::npos);
  CHECK(filter.ingress(first.substr(0, 40)) == first.substr(0, 40));  // as in many other keys
}

TEST_CASE("lines of values") {
  CHECK(KnownSecrets::lines_of("short\nlines").empty());
  // The last line of a PEM key may be short.
  const std::string frame = " PRIVATE KEY-----";
  CHECK(KnownSecrets::lines_of("-----BEGIN" + frame + "\nAAAAtail9w==\n-----END" + frame +
                               "\nAAAAtail9w==\n") == std::vector<std::string>{"AAAAtail9w=="});
  CHECK(KnownSecrets::lines_of("aaaaaaaaaaaaaaaaaaaaaaaa\n").empty());
  CHECK(KnownSecrets::lines_of("  abcdefghijklmnop1234 \r\nx") ==
        std::vector<std::string>{"abcdefghijklmnop1234"});
}

}  // namespace

TEST_CASE("a value becomes its handle and all else stays") {
  const Stage stage;
  CHECK(stage.filter.ingress("a " + kKey + " b " + kKey) ==
        std::string("a ") + kHandle + " b " + kHandle);
  CHECK(stage.filter.sink(kKey) == kHandle);
  CHECK(stage.filter.ingress(kKey.substr(1)) == kKey.substr(1));
  CHECK(stage.filter.ingress("").empty());
}

TEST_CASE("a value is found in every disguise, in one piece or in many") {
  const Stage stage;
  for (const std::string& text : disguises()) {
    CAPTURE(text);
    const std::string whole = stage.filter.ingress("before " + text + " after");
    CHECK(whole.find(kHandle) != std::string::npos);
    CHECK(whole.starts_with("before "));
    CHECK(whole.ends_with(" after"));
    CHECK(whole.size() < 80);
    for (const std::size_t size : {1U, 2U, 3U, 7U, 50U}) {
      CHECK(stage.in_pieces("before " + text + " after", size) == whole);
    }
  }
}

TEST_CASE("a JSON text with a value inside is still JSON") {
  const Stage stage;
  const std::string text = "{\"header\":" + json("Bearer " + kKey) + ",\"n\":\"\\n\"}";
  const auto filtered = parse_json(stage.filter.ingress(text));
  REQUIRE(filtered);
  CHECK(filtered->find("header")->string() == std::string("Bearer ") + kHandle);

  const Stage odd("nabcdefgh");  // after a backslash its first letter is an escape
  CHECK(parse_json(odd.filter.ingress(R"({"a":"x\nabcdefgh"})")));
}

TEST_CASE("work is not touched: identifiers, digests, images, code") {
  const Stage stage;
  Rng rng(7);
  std::string image;
  for (int i = 0; i < 100'000; ++i) image.push_back(static_cast<char>(rng.below(256)));
  for (const std::string& text :
       {std::string("123e4567-e89b-12d3-a456-426614174000"),
        std::string("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        to_base64(image), image,
        std::string("sk-ant-api03-another-key AKIAIOSFODNN7EXAMPLE ghp_0123456789012345678901"),
        std::string("if (a[[0]] % 25 == \\u0041) { return \"\\\\\"; }  // 100%")}) {
    CHECK(stage.filter.ingress(text) == text);
    CHECK(stage.in_pieces(text, 11) == text);
  }
}

TEST_CASE("nobody but the filter writes handles") {
  const Stage stage;
  CHECK(stage.filter.ingress("[[pawl-secret:KEY]]") == "[[not-a-pawl-secret:KEY]]");
  CHECK(stage.filter.sink("[[pawl-secret:KEY]]") == "[[pawl-secret:KEY]]");
  const SecretFilter nothing_known{std::make_shared<KnownSecrets>()};
  CHECK(nothing_known.ingress("[[pawl-secret:KEY]]") == "[[not-a-pawl-secret:KEY]]");
}

TEST_CASE("values that hold or follow each other leave nothing behind") {
  Stage stage("0123456789abcdef");
  stage.known->add("INNER", "456789ab");
  stage.known->add("OVER", "cdefghijkl");
  CHECK(stage.filter.sink("x0123456789abcdefx") == std::string("x") + kHandle + "x");
  CHECK(stage.filter.sink("x456789abx") == "x[[pawl-secret:INNER]]x");
  CHECK(stage.filter.sink("0123456789abcdefghijkl") == kHandle);
  CHECK(stage.filter.sink("456789abcdefghijkl") == "[[pawl-secret:INNER]][[pawl-secret:OVER]]");
}

TEST_CASE("after a change of the key both values are taken out") {
  Stage stage("old-key-value");
  stage.known->add("KEY", "new-key-value");
  CHECK(stage.filter.sink("old-key-value new-key-value") == std::string(kHandle) + " " + kHandle);
}

TEST_CASE("a stream holds back what may be a beginning, and nothing else") {
  const Stage stage("secret-value-1");
  const auto stream = stage.filter.stream();
  CHECK(stream->feed("plain text") == "plain text");
  CHECK(stream->feed(" then sec") == " then ");
  CHECK(stream->feed("ond place") == "second place");
  CHECK(stream->feed(" secret-value") == " ");
  CHECK(stream->feed("-1 end") == std::string(kHandle) + " end");
  CHECK(stream->feed("s").empty());
  CHECK(stream->finish() == "s");
  CHECK(stream->finish().empty());
}

TEST_CASE("a stream holds back no more than its bound") {
  const Stage stage("abcdefghabcdefgh");  // it follows itself for ever
  const auto stream = stage.filter.stream();
  std::size_t fed = 0;
  std::size_t given = 0;
  for (int i = 0; i < 1'000; ++i) {
    given += stream->feed("abcdefgh").empty() ? 0U : 1U;
    ++fed;
  }
  CHECK(given > 0);
  CHECK(given < fed);
  std::string endless = "abcd";
  endless.append(100'000, '\n');  // which may still go on
  CHECK_FALSE(stream->feed(endless).empty());
}

TEST_CASE("random texts come out of a stream as they do in one piece, without a value") {
  const Stage stage;
  const auto parts = disguises();
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    std::string text;
    while (text.size() < 600) {
      switch (rng.below(4)) {
        case 0:
          text += parts[rng.below(parts.size())];
          break;
        case 1:
          text += kKey.substr(0, rng.below(kKey.size()));
          break;
        case 2:
          text += "\\%\nu25n\"x"[rng.below(9)];
          break;
        default:
          text += static_cast<char>(' ' + rng.below(90));
      }
    }
    const std::string whole = stage.filter.sink(text);
    CHECK(whole.find(kKey) == std::string::npos);
    CHECK(whole.find(hex(kKey, "%02x")) == std::string::npos);
    CHECK(whole.find(to_base64(kKey).substr(0, 40)) == std::string::npos);
    for (const std::size_t size : {1U, 5U, 64U}) CHECK(stage.in_pieces(text, size) == whole);
  }
}

TEST_CASE("long texts are searched piece by piece, and a value at a border is found") {
  const Stage stage;
  std::string text(kSearchedPieceBytes * 3, '.');
  text.replace(kSearchedPieceBytes - 5, kKey.size(), kKey);
  const std::string filtered = stage.filter.ingress(text);
  CHECK(filtered.size() == text.size() - kKey.size() + std::string_view(kHandle).size());
  CHECK(filtered.find(kHandle) == kSearchedPieceBytes - 5);
  const std::string plain(kSearchedPieceBytes * 3, '\\');
  CHECK(stage.filter.ingress(plain) == plain);
}

}  // namespace pawl
