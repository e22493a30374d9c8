// A gzip stream of zeros without an end, as a head and a piece to repeat.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pawl {

// 158 bytes come out for one that goes in: a block of fixed Huffman codes, with the literal 0 and
// then "the last byte, 258 times" (13 bits) over and over. Eight of those are 13 whole bytes.
class GzipBomb {
 public:
  static constexpr std::size_t kRepeatedBytes = 13;
  static constexpr std::size_t kBytesOutOfRepeated = 8 * 258;

  GzipBomb() {
    head_ = std::string("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
    write("110");       // the last block; fixed codes
    write("00110000");  // literal 0
    // 11 bits so far: what is repeated begins inside a byte and ends at the same bit of another.
    for (int i = 0; i < 8; ++i) write("1100010100000");
    repeated_ = bytes_.substr(2);
    head_ += bytes_.substr(0, 1);
    // The byte between: its first bits are the literal's end here, the copy's end in each repeat.
    head_ += bytes_.substr(1, 1);
    repeated_ += static_cast<char>((static_cast<unsigned char>(bytes_[1]) & 0xf8U) | pending_);
  }

  const std::string& head() const { return head_; }
  const std::string& repeated() const { return repeated_; }

 private:
  // Bits in the order of the stream.
  void write(std::string_view bits) {
    for (const char bit : bits) {
      pending_ |= (bit == '1' ? 1U : 0U) << count_;
      if (++count_ < 8) continue;
      bytes_ += static_cast<char>(pending_);
      pending_ = 0;
      count_ = 0;
    }
  }

  std::string bytes_;
  unsigned pending_ = 0;
  unsigned count_ = 0;
  std::string head_;
  std::string repeated_;
};

}  // namespace pawl
