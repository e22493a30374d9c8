#include "pawl/testing/fake_provider/gzip_bomb.h"

#include <array>
#include <cstddef>

namespace pawl::fake {
namespace {

// Deflate packs bits from the low end of each byte.
class BitWriter {
 public:
  // Fields: the low bit first.
  void field(std::uint32_t value, unsigned bits) {
    for (unsigned i = 0; i < bits; ++i) bit((value >> i) & 1U);
  }
  // Huffman codes: the high bit first.
  void code(std::uint32_t value, unsigned bits) {
    for (unsigned i = bits; i > 0; --i) bit((value >> (i - 1)) & 1U);
  }
  // What is left of the last byte is filled with zeros.
  std::string take() { return std::move(bytes_); }

 private:
  void bit(std::uint32_t value) {
    if (used_ == 0) bytes_.push_back('\0');
    if (value != 0) {
      bytes_.back() = static_cast<char>(static_cast<unsigned char>(bytes_.back()) | (1U << used_));
    }
    used_ = (used_ + 1) % 8;
  }

  std::string bytes_;
  unsigned used_ = 0;
};

// RFC 1951, 3.2.7. The alphabet of lengths: symbol 18 (a run of zeros) is 0, 1 is 10, 2 is 11.
void put_lengths_alphabet(BitWriter& bits) {
  // In the RFC's order 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1.
  constexpr std::array<std::uint8_t, 18> kLengths = {0, 0, 1, 0, 0, 0, 0, 0, 0,
                                                     0, 0, 0, 0, 0, 0, 2, 0, 2};
  bits.field(kLengths.size() - 4, 4);
  for (const std::uint8_t length : kLengths) bits.field(length, 3);
}

void put_zero_run(BitWriter& bits, std::uint32_t count) {
  bits.code(0b0, 1);
  bits.field(count - 11, 7);
}

}  // namespace

std::string gzip_bomb_opening() {
  BitWriter bits;
  bits.field(0, 1);     // not the last block
  bits.field(0b10, 2);  // dynamic codes
  bits.field(29, 5);    // 286 literal and length symbols
  bits.field(0, 5);     // one distance symbol
  put_lengths_alphabet(bits);
  bits.code(0b11, 2);  // literal 0 has two bits: 10
  put_zero_run(bits, 138);
  put_zero_run(bits, 117);
  bits.code(0b11, 2);  // end of block has two bits: 11
  put_zero_run(bits, 28);
  bits.code(0b10, 2);  // length 258 has one bit: 0
  bits.code(0b10, 2);  // distance 1 has one bit: 0
  bits.code(0b10, 2);  // the literal; what fills its byte are matches already
  const std::string header("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", 10);
  return header + bits.take();
}

}  // namespace pawl::fake
