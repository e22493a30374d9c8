#include "pawl/adapter/backend/command/sealed_program.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "pawl/base/describe_errno.h"

namespace pawl {
namespace {

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

constexpr int kAboveChilds = 16;

Error not_sealed(const std::string& step) {
  std::string remedy;
  if (errno == EACCES) remedy = "; is the setting vm.memfd_noexec of the system 2?";
  return {ErrorCode::unavailable,
          "a script cannot be sealed (" + step + "): " + describe_errno(errno) + remedy};
}

// Kernels before 6.3 do not know the flag, and need none.
Descriptor new_memory_file() {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  Descriptor file(::memfd_create("pawl-script", kFlags | MFD_EXEC));
  if (!file && errno == EINVAL) file = Descriptor(::memfd_create("pawl-script", kFlags));
  return file;
}

bool write_all(const Descriptor& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file.number(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

Result<SealedProgram> seal_program(std::string_view bytes) {
  const Descriptor file = new_memory_file();
  if (!file) return not_sealed("memfd_create");
  constexpr mode_t kReadAndRun = 0500;
  if (!write_all(file, bytes) || ::fchmod(file.number(), kReadAndRun) != 0) {
    return not_sealed("write");
  }
  constexpr int kSeals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  if (::fcntl(file.number(), F_ADD_SEALS, kSeals) != 0) return not_sealed("seal");
  // A file that is open for writing cannot be executed.
  const std::string path = "/proc/self/fd/" + std::to_string(file.number());
  const Descriptor reading(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!reading) return not_sealed("open");
  Descriptor high(::fcntl(reading.number(), F_DUPFD_CLOEXEC, kAboveChilds));
  if (!high) return not_sealed("dup");
  return std::make_shared<const Descriptor>(std::move(high));
}

}  // namespace pawl
