// The format of the simulated store: numbered, checked frames, each one group of operations.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pawl/store.h"

namespace pawl::sim {

struct AcquireOp {
  RunId run;
};
struct PostOp {
  RunId run;
  std::int64_t at_ms = 0;
  std::string body;
  std::uint64_t row = 0;  // its number, whatever became of the others
};
struct QuarantineOp {
  RunId run;
  std::string why;
};
struct DropOp {
  RunId run;
  std::uint64_t epoch = 0;
  std::vector<std::uint64_t> rows;
};
struct BlobsOp {  // only a planted bug writes it
  RunId run;
  std::vector<StoredBlob> blobs;
};
using Op = std::variant<Append, AcquireOp, PostOp, QuarantineOp, DropOp, BlobsOp>;

// One frame: magic, length, number, check, then the operations.
std::string encode_frame(std::uint64_t number, const std::vector<Op>& group);

struct LogScan {
  std::vector<std::vector<Op>> groups;
  std::size_t good_bytes = 0;  // where the last whole frame ends
  enum class Tail : std::uint8_t { clean, torn } tail = Tail::clean;
};
// Reads frames 0, 1, 2, … until one is not whole. What lies behind is not looked at: its turn never
// came.
LogScan scan_log(std::string_view file);

}  // namespace pawl::sim
