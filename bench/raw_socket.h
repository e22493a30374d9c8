// The floor of what a step over HTTP can cost: sockets, one write a request, and as many reads as
// the response comes in. Nothing is parsed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace pawl::bench {

// Posts `body` to the path so often, `at_once` at a time, each on a kept connection of its own.
// `end` is what a response ends with.
void run_raw_sockets(std::uint16_t port, const std::string& path, const std::string& body,
                     std::uint64_t requests, std::size_t at_once, const std::string& end);

}  // namespace pawl::bench
