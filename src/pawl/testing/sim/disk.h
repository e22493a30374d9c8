// A file on a disk that can lose power: what was not synced may be there, partly there, out of
// order, or not there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pawl/base/rng.h"
#include "pawl/result.h"

namespace pawl::sim {

class SimDisk {
 public:
  // Into the page cache: every reader sees it, no power loss need keep it.
  void append(std::string bytes);
  // Makes what was written durable. After fail_next_sync() it fails once, and what it was to write
  // is marked clean all the same, as Linux does: a later sync does not write it.
  Status sync();
  void fail_next_sync() { sync_fails_ = true; }
  // Cuts the file, durably.
  void truncate(std::size_t size);

  // What a reader sees now.
  std::string contents() const;
  std::size_t size() const { return size_; }

  // Keeps what was synced; of the rest each sector by chance. Sectors that are missing below others
  // that are there read as zeros.
  void lose_power(Rng& rng);

 private:
  static constexpr std::size_t kSectorBytes = 512;

  struct Write {
    std::size_t offset = 0;
    std::string bytes;
    enum class State : std::uint8_t { dirty, forgotten } state = State::dirty;
  };
  static void put(std::string& file, std::size_t offset, std::string_view bytes);

  std::string durable_;
  std::vector<Write> writes_;
  std::size_t size_ = 0;
  bool sync_fails_ = false;
};

}  // namespace pawl::sim
