#include "pawl/testing/sim/disk.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace pawl::sim {

void SimDisk::append(std::string bytes) {
  const std::size_t offset = size_;
  size_ += bytes.size();
  writes_.push_back({offset, std::move(bytes), Write::State::dirty});
}

void SimDisk::put(std::string& file, std::size_t offset, std::string_view bytes) {
  if (file.size() < offset + bytes.size()) file.resize(offset + bytes.size(), '\0');
  file.replace(offset, bytes.size(), bytes);
}

Status SimDisk::sync() {
  if (std::exchange(sync_fails_, false)) {
    for (Write& write : writes_) write.state = Write::State::forgotten;
    return Error{ErrorCode::unavailable, "input/output error"};
  }
  for (const Write& write : writes_) {
    if (write.state == Write::State::dirty) put(durable_, write.offset, write.bytes);
  }
  std::erase_if(writes_, [](const Write& write) { return write.state == Write::State::dirty; });
  return ok();
}

void SimDisk::truncate(std::size_t size) {
  std::string file = contents();
  file.resize(std::min(size, file.size()));
  durable_ = std::move(file);
  size_ = durable_.size();
  writes_.clear();
}

std::string SimDisk::contents() const {
  std::string file = durable_;
  for (const Write& write : writes_) put(file, write.offset, write.bytes);
  return file;
}

void SimDisk::lose_power(Rng& rng) {
  const std::vector<Write> lost = std::exchange(writes_, {});
  for (const Write& write : lost) {
    if (write.state == Write::State::forgotten || rng.one_in(3)) continue;
    const bool whole = rng.one_in(2);
    for (std::size_t at = 0; at < write.bytes.size(); at += kSectorBytes) {
      if (!whole && rng.one_in(2)) continue;
      const std::string_view rest = std::string_view(write.bytes).substr(at, kSectorBytes);
      put(durable_, write.offset + at, rest);
    }
  }
  // The length of the file may have reached the disk before its bytes.
  if (!lost.empty() && rng.one_in(4)) durable_.resize(std::max(durable_.size(), size_), '\0');
  size_ = durable_.size();
}

}  // namespace pawl::sim
