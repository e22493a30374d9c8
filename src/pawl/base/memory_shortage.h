// Where a shortage of memory can be survived. The program ends when it gets no more memory
// (adapter/host/console.cc); while one of these lives on a thread, operator new throws
// std::bad_alloc there instead, and whoever made it catches that.
#pragma once

namespace pawl {

class MemoryMayLack {
 public:
  MemoryMayLack() { ++depth(); }
  ~MemoryMayLack() { --depth(); }
  MemoryMayLack(const MemoryMayLack&) = delete;
  MemoryMayLack& operator=(const MemoryMayLack&) = delete;

  static bool here() { return depth() > 0; }

 private:
  static int& depth() {
    thread_local int depth = 0;
    return depth;
  }
};

}  // namespace pawl
