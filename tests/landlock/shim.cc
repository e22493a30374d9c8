// Preloaded into a program: shows it the Landlock of an older kernel, or none.
//
// PAWL_TEST_LANDLOCK  the newest version that the program may see; 0: the kernel has none; "off":
//                     it is built in and switched off
//
// Rulesets are made by the real kernel. What the older version does not know is refused as it would
// refuse it, and is therefore not held by the ruleset.
#include <dlfcn.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

constexpr unsigned kVersionFlag = 1;
constexpr std::size_t kAttributes = 3;  // files, network, scopes

struct Version {
  std::uint64_t known[kAttributes];
};
// From version 1 on.
constexpr Version kVersions[] = {{{0x1FFF, 0, 0}}, {{0x3FFF, 0, 0}}, {{0x7FFF, 0, 0}},
                                 {{0x7FFF, 3, 0}}, {{0xFFFF, 3, 0}}, {{0xFFFF, 3, 3}}};
constexpr long kNewest = sizeof kVersions / sizeof kVersions[0];

using Call = long (*)(long, ...);

long refuse(int error) {
  errno = error;
  return -1;
}

long create_ruleset(Call real, long number, const long* arguments) {
  const char* wanted = std::getenv("PAWL_TEST_LANDLOCK");
  if (wanted == nullptr) return real(number, arguments[0], arguments[1], arguments[2]);
  if (std::strcmp(wanted, "off") == 0) return refuse(EOPNOTSUPP);
  const long version = std::atol(wanted);
  if (version <= 0) return refuse(ENOSYS);
  const long there = real(number, 0L, 0L, static_cast<long>(kVersionFlag));
  if (there < 0) return there;
  if (arguments[2] == kVersionFlag) return version < there ? version : there;
  if (version > kNewest) return real(number, arguments[0], arguments[1], arguments[2]);
  std::uint64_t asked[kAttributes] = {};
  const auto bytes = static_cast<std::size_t>(arguments[1]);
  if (bytes > sizeof asked) return refuse(E2BIG);
  std::memcpy(asked, reinterpret_cast<const void*>(arguments[0]), bytes);
  const Version& shown = kVersions[version - 1];
  for (std::size_t i = 0; i < kAttributes; ++i) {
    // An attribute that is behind the end of the older structure must be zero.
    if ((asked[i] & ~shown.known[i]) != 0) return refuse(shown.known[i] == 0 ? E2BIG : EINVAL);
  }
  return real(number, arguments[0], arguments[1], arguments[2]);
}

}  // namespace

extern "C" long syscall(long number, ...) noexcept {  // NOLINT(cert-dcl50-cpp)
  static const Call real = reinterpret_cast<Call>(::dlsym(RTLD_NEXT, "syscall"));
  long arguments[6] = {};
  std::va_list list;
  va_start(list, number);
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  if (number == SYS_landlock_create_ruleset) return create_ruleset(real, number, arguments);
  return real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
              arguments[5]);
}
