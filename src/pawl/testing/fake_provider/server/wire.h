// What goes over a socket, as data: pieces with pauses between them, and how the reply ends.
// Nothing here knows whether it is valid HTTP; faults are written with the same words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::fake {

struct Header {
  std::string name;
  std::string value;

  friend bool operator==(const Header&, const Header&) = default;
};
using Headers = std::vector<Header>;

// The value of the first header of this name, whatever its case; empty when there is none.
std::string_view find_header(const Headers& headers, std::string_view name);
bool equal_ignoring_case(std::string_view a, std::string_view b);
std::string lower_case(std::string_view text);

inline constexpr std::uint64_t kForEver = UINT64_MAX;

struct WirePiece {
  std::string bytes;
  std::uint64_t delay_ms = 0;    // before it, each time
  std::uint64_t times = 1;       // how often it is sent
  std::uint64_t step_bytes = 0;  // 0: in one write; else so many bytes a write, each delayed

  friend bool operator==(const WirePiece&, const WirePiece&) = default;
};

enum class WireEnd : std::uint8_t {
  keep_alive,  // the next request may come
  close,       // in order: FIN
  reset,       // RST
  hold,        // open and silent until the client goes
};

struct WirePlan {
  std::vector<WirePiece> pieces;
  WireEnd end = WireEnd::keep_alive;
};

// One frame of a reply's body: in a stream one event, otherwise the whole body.
enum class FrameKind : std::uint8_t { opening, delta, other, closing };

struct Frame {
  FrameKind kind = FrameKind::other;
  std::string bytes;
};

enum class Framing : std::uint8_t { length, chunked };

// A reply before it is laid out on the wire.
struct Rendered {
  int status = 200;
  Headers headers;
  Framing framing = Framing::length;
  std::vector<Frame> frames;

  std::string body() const;
};

std::string_view reason_phrase(int status);
// Status line, the headers and what the framing needs, and the empty line.
std::string http_head(const Rendered& reply);
// A whole reply that ends its connection.
std::string text_reply(int status, std::string text);
std::string chunk(std::string_view bytes);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace pawl::fake
