// The provider that steps are measured against, in a process of its own: one thread on epoll, far
// from its own ceiling. It speaks Anthropic's Messages API, streaming, and reads of a request only
// how long it is and its end:
//   POST …/v1/messages   a call of the tool t with the number behind the last "n=" of the request
//                        and, where that is the last of the plan, a short text
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace pawl::bench {

// What the tool's results end with: the server looks for it there. `next`: how many calls were
// made.
std::string step_mark(std::uint64_t next);

// What a response ends with.
inline constexpr std::string_view kStepResponseEnd = "\r\n0\r\n\r\n";

class StepServerProcess {
 public:
  // A conversation takes `steps` model calls: each but the last asks for the tool.
  explicit StepServerProcess(std::uint64_t steps);
  ~StepServerProcess();
  StepServerProcess(const StepServerProcess&) = delete;
  StepServerProcess& operator=(const StepServerProcess&) = delete;

  std::string url() const;
  std::uint16_t port() const { return port_; }

 private:
  pid_t pid_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace pawl::bench
