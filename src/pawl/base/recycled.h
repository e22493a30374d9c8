// Memory for objects that are made and let go all the time and are too large for the C library's
// caches of freed blocks (1,032 bytes of a thread): each would cost a walk through its lists. A
// thread keeps the blocks that were freed on it, up to a maximum, and takes new ones from there.
//   auto view = make_recycled<RecordView>(...);   // a std::shared_ptr
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "pawl/base/sanitizer.h"

namespace pawl {

// The freed blocks of one size of one thread.
template <std::size_t kBytes>
class FreedBlocks {
 public:
  static constexpr std::size_t kBlocksMax =
      PAWL_HAS_ASAN == 1 ? 0 : 256;  // what uses a freed one must be found

  static void* take() {
    FreedBlocks* const own = mine();
    if (own == nullptr || own->first_ == nullptr) return ::operator new(kBytes);
    Block* const block = own->first_;
    own->first_ = block->next;
    --own->count_;
    return block;
  }
  static void give(void* bytes) {
    FreedBlocks* const own = mine();
    if (own == nullptr || own->count_ == kBlocksMax) return ::operator delete(bytes);
    own->first_ = new (bytes) Block{own->first_};
    ++own->count_;
  }
  static std::size_t kept() {
    const FreedBlocks* const own = mine();
    return own == nullptr ? 0 : own->count_;
  }

  FreedBlocks(const FreedBlocks&) = delete;
  FreedBlocks& operator=(const FreedBlocks&) = delete;

 private:
  struct Block {
    Block* next;
  };
  static_assert(kBytes >= sizeof(Block));

  FreedBlocks() = default;
  ~FreedBlocks() {
    over() = true;
    while (first_ != nullptr) ::operator delete(std::exchange(first_, first_->next));
  }

  // Objects may outlive their thread's blocks, at the end of the program.
  static bool& over() {
    static thread_local bool is_over = false;
    return is_over;
  }
  static FreedBlocks* mine() {
    if (over()) return nullptr;
    static thread_local FreedBlocks blocks;
    return &blocks;
  }

  Block* first_ = nullptr;
  std::size_t count_ = 0;
};

template <class T>
struct Recycling {
  using value_type = T;
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

  Recycling() = default;
  template <class Other>
  Recycling(const Recycling<Other>&) {}  // NOLINT(google-explicit-constructor): allocators convert

  T* allocate(std::size_t count) {
    void* const bytes =
        count == 1 ? FreedBlocks<sizeof(T)>::take() : ::operator new(count * sizeof(T));
    return static_cast<T*>(bytes);
  }
  void deallocate(T* object, std::size_t count) {
    if (count == 1) return FreedBlocks<sizeof(T)>::give(object);
    ::operator delete(object);
  }
  template <class Other>
  friend bool operator==(const Recycling&, const Recycling<Other>&) {
    return true;
  }
};

template <class T, class... Arguments>
std::shared_ptr<T> make_recycled(Arguments&&... arguments) {
  return std::allocate_shared<T>(Recycling<T>(), std::forward<Arguments>(arguments)...);
}

}  // namespace pawl
