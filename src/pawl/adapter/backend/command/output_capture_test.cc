#include "pawl/adapter/backend/command/output_capture.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <utility>

#include "pawl/base/utf8.h"

namespace pawl::tool_command {
namespace {

OutputCapture captured(const std::string& text, std::size_t bytes_max, std::size_t chunk = 7) {
  OutputCapture capture(bytes_max);
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    capture.append(std::string_view(text).substr(at, chunk));
  }
  return capture;
}

TEST_CASE("output that fits stays as it is") {
  const OutputCapture capture = captured("hällo", 6);

  CHECK(capture.is_complete());
  CHECK(capture.head() == "hällo");
  CHECK(capture.render(6).text == "hällo");
  CHECK(capture.render(6).cut_bytes == 0);
}

std::string letters(std::size_t count, char letter) {
  return std::string(count, letter);
}

TEST_CASE("output that is one byte too long loses its middle") {
  std::string text = letters(600, 'a');
  text += letters(401, 'z');
  const OutputCapture capture = captured(text, 1000);

  const Rendered rendered = capture.render(1000);

  std::string expected = letters(468, 'a');
  expected += "\n[… 65 bytes cut …]\n";
  expected += letters(67, 'a');
  expected += letters(401, 'z');
  CHECK_FALSE(capture.is_complete());
  CHECK(rendered.text == expected);
  CHECK(rendered.cut_bytes == 65);
}

// "secret" becomes "[s]", in however many pieces it comes.
struct WordFilter final : ByteFilter {
  struct Stream final : ByteStream {
    std::string feed(std::string_view piece) override {
      held += piece;
      std::string out = replaced(held);
      const std::size_t keep = std::min<std::size_t>(out.size(), 5);
      held = out.substr(out.size() - keep);
      return out.substr(0, out.size() - keep);
    }
    std::string finish() override { return std::exchange(held, ""); }
    std::string held;
  };
  static std::string replaced(std::string text) {
    for (std::size_t at = 0; (at = text.find("secret")) != std::string::npos;) {
      text.replace(at, 6, "[s]");
    }
    return text;
  }
  std::string ingress(std::string text) const override { return replaced(std::move(text)); }
  std::string sink(std::string text) const override { return replaced(std::move(text)); }
  std::unique_ptr<ByteStream> stream() const override { return std::make_unique<Stream>(); }
};

TEST_CASE("an output is filtered before it is cut, wherever the cut is") {
  const auto filter = std::make_shared<WordFilter>();
  // Every offset of the value to both ends of the cut, streamed in small pieces or not.
  for (std::size_t offset = 0; offset < 12; ++offset) {
    for (const std::size_t total : {400U, 2000U}) {
      std::string text = letters(offset, '.');
      while (text.size() < total) text += "secret......";
      OutputCapture capture(500, filter);
      for (std::size_t at = 0; at < text.size(); at += 7) capture.append(text.substr(at, 7));
      capture.finish();
      for (const std::size_t room : {200U, 201U, 203U}) {
        const std::string shown = capture.render(room).text;
        INFO(offset << " " << total << " " << room << " " << shown);
        CHECK(shown.find("bytes cut") != std::string::npos);
        CHECK(shown.find("sec") == std::string::npos);
        CHECK(shown.find("cret") == std::string::npos);
      }
    }
  }
}

TEST_CASE("an output that fits is left to whoever takes it up") {
  OutputCapture capture(500, std::make_shared<WordFilter>());
  capture.append("a secret");
  capture.finish();
  CHECK(capture.render(500).text == "a secret");
  CHECK(capture.head() == "a secret");
}

TEST_CASE("a cut does not split a character") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "€";

  const Rendered rendered = captured(text, 200).render(200);

  CHECK(is_valid_utf8(rendered.text));
  CHECK_FALSE(rendered.text.find("\uFFFD") != std::string::npos);
  CHECK(rendered.text.starts_with("€"));
  CHECK(rendered.text.ends_with("€"));
}

TEST_CASE("bytes that grow by being replaced stay within the bound") {
  const Rendered rendered = captured(std::string(900, '\xFF'), 1000).render(1000);

  CHECK(rendered.text.size() <= 1000);
  CHECK(is_valid_utf8(rendered.text));
  CHECK(rendered.cut_bytes == 900 - 2 * 156);
}

TEST_CASE("a bound without room for the note is kept all the same") {
  CHECK(captured("hällo", 2).render(2).text == "h");
  CHECK(captured("hällo", 0).render(0).text.empty());
  CHECK(captured("", 0).render(0).cut_bytes == 0);
}

// The bytes before and after the note, and the number in it, account for every byte of the input.
TEST_CASE("any bytes in any pieces render the same, bounded, valid and fully counted") {
  std::mt19937 random(1);  // NOLINT: the same every time
  for (int round = 0; round < 300; ++round) {
    std::string text(random() % 3000, '\0');
    const bool is_ascii = round % 2 == 0;
    for (char& byte : text) byte = static_cast<char>(is_ascii ? 'a' + random() % 26 : random());
    const std::size_t bound = random() % 1500;

    const Rendered rendered = captured(text, bound, 1 + random() % 4000).render(bound);

    CHECK(rendered.text.size() <= bound);
    CHECK(is_valid_utf8(rendered.text));
    CHECK(rendered.text == captured(text, bound, 64).render(bound).text);
    if (rendered.cut_bytes == 0) CHECK(rendered.text == to_valid_utf8(text));
    if (is_ascii && rendered.cut_bytes > 0 && bound >= 128) {
      const std::string note = "\n[… " + std::to_string(rendered.cut_bytes) + " bytes cut …]\n";
      const std::size_t at = rendered.text.find(note);
      REQUIRE(at != std::string::npos);
      CHECK(text.starts_with(rendered.text.substr(0, at)));
      CHECK(text.ends_with(rendered.text.substr(at + note.size())));
      CHECK(rendered.text.size() - note.size() + rendered.cut_bytes == text.size());
    }
  }
}

}  // namespace
}  // namespace pawl::tool_command
