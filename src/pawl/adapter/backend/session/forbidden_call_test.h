// A machine that lacks a system call, for a test's child.
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace pawl::backend {

// Makes one system call fail from now on, for this process and its children; with `flag`, only if
// its first argument has that bit.
inline void forbid(std::uint32_t number, int error, std::uint32_t flag = 0) {
  constexpr auto kFirstArgument = static_cast<std::uint32_t>(offsetof(seccomp_data, args));
  const std::uint32_t refuse = SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
  sock_filter any[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},
                       {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, number},
                       {BPF_RET | BPF_K, 0, 0, refuse},
                       {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  sock_filter some[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},
                        {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, number},
                        {BPF_LD | BPF_W | BPF_ABS, 0, 0, kFirstArgument},
                        {BPF_JMP | BPF_JSET | BPF_K, 0, 1, flag},
                        {BPF_RET | BPF_K, 0, 0, refuse},
                        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog program{static_cast<unsigned short>(flag == 0 ? 4 : 6), flag == 0 ? any : some};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) {
    ::_exit(99);
  }
}

}  // namespace pawl::backend
