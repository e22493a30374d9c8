// A child that shares the host's memory and changes its user or its namespaces makes the host
// undumpable, for ever: the kernel keeps that with the memory. This puts it back as it was.
#pragma once

#include <cstdint>

namespace pawl::sandbox {

class DumpableKept {
 public:
  // raised: a process that cannot be dumped has its files in /proc owned by root, so that an
  // ordinary host could not write the maps of such a child. Nothing that is confined can see the
  // host in that time: it has neither its /proc nor its pids.
  enum class Need : std::uint8_t { unchanged, raised };
  explicit DumpableKept(Need need);
  DumpableKept(const DumpableKept&) = delete;
  DumpableKept& operator=(const DumpableKept&) = delete;
  ~DumpableKept();
};

}  // namespace pawl::sandbox
