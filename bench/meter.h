// What a benchmark reads off its own process.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdio>

namespace pawl::bench {

inline double now_s() {
  using std::chrono::steady_clock;
  return std::chrono::duration<double>(steady_clock::now().time_since_epoch()).count();
}

// Of all threads, user and system.
inline double cpu_s() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

inline long peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// The number behind `name` in one of the kernel's files of "name: number" lines; 0 if it cannot be
// read.
inline std::uint64_t figure_of(const char* path, const char* format) {
  std::FILE* file = std::fopen(path, "r");
  if (file == nullptr) return 0;
  unsigned long long value = 0;
  char line[256];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::sscanf(line, format, &value) == 1) break;
  }
  std::fclose(file);
  return value;
}

inline std::uint64_t rss_kib() {
  return figure_of("/proc/self/status", "VmRSS: %llu");
}
// What the kernel will send to the disk for this process: whole pages of 4 KiB.
inline std::uint64_t disk_bytes() {
  return figure_of("/proc/self/io", "write_bytes: %llu");
}
// What it gave to write() and pwrite().
inline std::uint64_t call_bytes() {
  return figure_of("/proc/self/io", "wchar: %llu");
}

// From its making on.
struct Meter {
  double wall = now_s();
  double cpu = cpu_s();
  std::uint64_t disk = disk_bytes();
  std::uint64_t calls = call_bytes();
};

// What one step took.
struct Cost {
  double steps_per_s = 0;
  double cpu_us = 0;
  double disk_bytes = 0;
  double call_bytes = 0;
};

inline Cost cost_since(const Meter& begin, double steps) {
  return {steps / (now_s() - begin.wall), (cpu_s() - begin.cpu) / steps * 1e6,
          static_cast<double>(disk_bytes() - begin.disk) / steps,
          static_cast<double>(call_bytes() - begin.calls) / steps};
}

}  // namespace pawl::bench
