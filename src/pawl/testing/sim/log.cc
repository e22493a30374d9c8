#include "pawl/testing/sim/log.h"

#include <cstring>

#include "pawl/base/rng.h"
#include "pawl/kernel/bytes.h"

namespace pawl::sim {
namespace {

constexpr std::string_view kMagic = "PWLS";
constexpr std::size_t kHeaderBytes = 4 + 3 * sizeof(std::uint64_t);

std::uint64_t check_of(std::uint64_t number, std::string_view body) {
  std::uint64_t sum = Rng::mixed(number + 1);
  while (!body.empty()) {
    std::uint64_t word = body.size();
    std::memcpy(&word, body.data(), std::min(body.size(), sizeof word));
    sum = Rng::mixed(sum ^ word);
    body.remove_prefix(std::min(body.size(), sizeof word));
  }
  return sum;
}

void put(ByteWriter& out, const StoredBlob& blob) {
  out.put(blob.digest);
  out.put(blob.bytes);
}

void put(ByteWriter& out, const RunSummary& summary) {
  out.put(summary.id);
  for (const std::string* text :
       {&summary.tenant, &summary.name, &summary.status, &summary.reason}) {
    out.put(*text);
  }
  out.put(summary.created_at_ms);
  out.put(summary.updated_at_ms);
}

void put(ByteWriter& out, const Append& op) {
  out.put(op.run);
  out.put(op.epoch);
  out.put(op.seq);
  out.put(op.bytes);
  out.put(op.chain);
  out.number(op.blobs.size());
  for (const StoredBlob& blob : op.blobs) put(out, blob);
  out.put(op.inbox_taken);
  out.number(op.summary ? 1 : 0);
  if (op.summary) put(out, *op.summary);
  out.number(op.snapshot ? 1 : 0);
  if (op.snapshot) {
    out.put(op.snapshot->seq);
    out.put(op.snapshot->chain);
    out.put(op.snapshot->state);
  }
  out.number(op.snapshots == Append::Snapshots::drop ? 1 : 0);
}
void put(ByteWriter& out, const AcquireOp& op) {
  out.put(op.run);
}
void put(ByteWriter& out, const PostOp& op) {
  out.put(op.run);
  out.put(op.at_ms);
  out.put(op.body);
  out.put(op.row);
}
void put(ByteWriter& out, const QuarantineOp& op) {
  out.put(op.run);
  out.put(op.why);
}
void put(ByteWriter& out, const DropOp& op) {
  out.put(op.run);
  out.put(op.epoch);
  out.put(op.rows);
}
void put(ByteWriter& out, const BlobsOp& op) {
  out.put(op.run);
  out.number(op.blobs.size());
  for (const StoredBlob& blob : op.blobs) put(out, blob);
}

void take(ByteReader& in, std::vector<StoredBlob>& blobs) {
  for (std::uint64_t left = in.number(); left > 0 && !in.failed(); --left) {
    StoredBlob& blob = blobs.emplace_back();
    in.take(blob.digest);
    in.take(blob.bytes);
  }
}
void take(ByteReader& in, RunSummary& summary) {
  in.take(summary.id);
  for (std::string* text : {&summary.tenant, &summary.name, &summary.status, &summary.reason}) {
    in.take(*text);
  }
  in.take(summary.created_at_ms);
  in.take(summary.updated_at_ms);
}
void take(ByteReader& in, Append& op) {
  in.take(op.run);
  in.take(op.epoch);
  in.take(op.seq);
  in.take(op.bytes);
  in.take(op.chain);
  take(in, op.blobs);
  in.take(op.inbox_taken);
  if (in.number() == 1) take(in, op.summary.emplace());
  if (in.number() == 1) {
    StoredSnapshot& snapshot = op.snapshot.emplace();
    in.take(snapshot.seq);
    in.take(snapshot.chain);
    in.take(snapshot.state);
  }
  if (in.number() == 1) op.snapshots = Append::Snapshots::drop;
}
void take(ByteReader& in, AcquireOp& op) {
  in.take(op.run);
}
void take(ByteReader& in, PostOp& op) {
  in.take(op.run);
  in.take(op.at_ms);
  in.take(op.body);
  in.take(op.row);
}
void take(ByteReader& in, QuarantineOp& op) {
  in.take(op.run);
  in.take(op.why);
}
void take(ByteReader& in, DropOp& op) {
  in.take(op.run);
  in.take(op.epoch);
  in.take(op.rows);
}
void take(ByteReader& in, BlobsOp& op) {
  in.take(op.run);
  take(in, op.blobs);
}

template <std::size_t I = 0>
Op op_of(std::uint64_t kind, ByteReader& in) {
  if constexpr (I < std::variant_size_v<Op>) {
    if (kind != I) return op_of<I + 1>(kind, in);
    std::variant_alternative_t<I, Op> op;
    take(in, op);
    return op;
  } else {
    in.fail();
    return AcquireOp{};
  }
}

}  // namespace

std::string encode_frame(std::uint64_t number, const std::vector<Op>& group) {
  ByteWriter body;
  body.number(group.size());
  for (const Op& op : group) {
    body.number(op.index());
    std::visit([&body](const auto& one) { put(body, one); }, op);
  }
  const std::uint64_t header[] = {body.size(), number, check_of(number, body.view())};
  std::string frame(kMagic);
  frame.append(reinterpret_cast<const char*>(header), sizeof header);
  return frame.append(body.view());
}

LogScan scan_log(std::string_view file) {
  LogScan scan;
  while (true) {
    const std::string_view rest = file.substr(scan.good_bytes);
    if (rest.empty()) return scan;
    scan.tail = LogScan::Tail::torn;
    std::uint64_t header[3];
    if (rest.size() < kHeaderBytes || !rest.starts_with(kMagic)) return scan;
    std::memcpy(header, rest.data() + kMagic.size(), sizeof header);
    const auto [length, number, check] = header;
    if (number != scan.groups.size() || length > rest.size() - kHeaderBytes) return scan;
    const std::string_view body = rest.substr(kHeaderBytes, static_cast<std::size_t>(length));
    if (check_of(number, body) != check) return scan;
    ByteReader in(body);
    std::vector<Op> group;
    for (std::uint64_t left = in.number(); left > 0 && !in.failed(); --left) {
      const std::uint64_t kind = in.number();
      group.push_back(op_of(kind, in));
    }
    PAWL_ASSERT(!in.failed() && in.at_end());
    scan.groups.push_back(std::move(group));
    scan.good_bytes += kHeaderBytes + body.size();
    scan.tail = LogScan::Tail::clean;
  }
}

}  // namespace pawl::sim
