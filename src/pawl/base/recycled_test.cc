#include "pawl/base/recycled.h"

#include <doctest/doctest.h>

#include <array>
#include <set>
#include <thread>
#include <vector>

namespace pawl {
namespace {

struct Large {
  explicit Large(int value, int* ended = nullptr) : number(value), ends(ended) {}
  ~Large() {
    if (ends != nullptr) ++*ends;
  }
  Large(const Large&) = delete;
  Large& operator=(const Large&) = delete;
  int number;
  int* ends;
  std::array<char, 2'000> rest{};
};

struct Unlike : std::array<char, 3'008> {};  // of a size of its own: the blocks are this test's
using UnlikeBlocks = FreedBlocks<sizeof(Unlike)>;

}  // namespace

TEST_CASE("recycled objects are made and ended like any other") {
  int ended = 0;
  auto first = make_recycled<Large>(1, &ended);
  auto other = make_recycled<Large>(2, &ended);
  const std::shared_ptr<const Large> same = first;
  CHECK(same->number == 1);
  first.reset();
  CHECK(ended == 0);
  other.reset();
  CHECK(ended == 1);
  CHECK(make_recycled<Large>(3)->rest[1'999] == 0);
}

TEST_CASE("freed blocks are used again, and no more than the maximum is kept") {
  constexpr std::size_t kMax = UnlikeBlocks::kBlocksMax;
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < kMax + 5; ++i) blocks.push_back(UnlikeBlocks::take());
  CHECK(std::set<void*>(blocks.begin(), blocks.end()).size() == kMax + 5);
  for (void* const block : blocks) UnlikeBlocks::give(block);
  CHECK(UnlikeBlocks::kept() == kMax);
  if (kMax == 0) return;  // where the memory itself is checked
  CHECK(UnlikeBlocks::take() == blocks[kMax - 1]);
  UnlikeBlocks::give(blocks[kMax - 1]);
}

TEST_CASE("what one thread takes another may give back: it is that one's then") {
  void* const block = UnlikeBlocks::take();
  const std::size_t before = UnlikeBlocks::kept();
  std::size_t kept_there = 0;
  std::thread([&] {
    UnlikeBlocks::give(block);
    kept_there = UnlikeBlocks::kept();
  }).join();
  CHECK(UnlikeBlocks::kept() == before);
  CHECK(kept_there == (UnlikeBlocks::kBlocksMax > 0 ? 1U : 0U));
}

}  // namespace pawl
