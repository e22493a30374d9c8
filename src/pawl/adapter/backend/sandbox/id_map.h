// Children that live in a user namespace of their own until the host lets them go.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "pawl/base/descriptor.h"
#include "pawl/result.h"

namespace pawl::sandbox {

// A child that shares the host's memory and descriptors, and runs beside it. The host thread may do
// nothing but system calls until the child has ended.
class SharedChild {
 public:
  using Main = int (*)(void* argument);
  SharedChild() = default;
  SharedChild(const SharedChild&) = delete;
  SharedChild& operator=(const SharedChild&) = delete;
  ~SharedChild() { await_end(); }

  // 0, or the number of the kernel's error.
  int start(Main main, void* argument, unsigned long flags);
  pid_t pid() const { return pid_; }
  void await_end();

 private:
  pid_t pid_ = 0;
  void* stack_ = nullptr;
};

struct IdPair {
  std::uint32_t inside = 0;
  std::uint32_t outside = 0;
};

// Writes the maps of the child's user namespace.
Status write_id_maps(pid_t child, IdPair user, IdPair group);

// A user namespace with these maps and nobody in it.
Result<Descriptor> make_user_namespace(IdPair user, IdPair group);

// A descriptor that can be read from when this process has ended.
Descriptor open_own_process();
// In a child: the byte that the host writes to the gate; below zero when the host was killed. The
// end of the pipe would never come, as the child has the same descriptors.
long await_gate(int gate, int host);

}  // namespace pawl::sandbox
