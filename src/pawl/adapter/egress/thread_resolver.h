// Names through getaddrinfo(), which blocks: on a bounded number of threads, with a deadline and a
// bounded queue. Nothing is cached: who asks once connects to what it was told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pawl/loop.h"
#include "pawl/port/egress.h"

namespace pawl {

struct ResolverOptions {
  std::size_t threads_max = 8;
  std::size_t waiting_max = 1'000;  // for a thread; one more is limit_exceeded
  std::int64_t deadline_ms = 10'000;
};

// Runs on a thread of the resolver's. More than kEgressAnswersMax answers are limit_exceeded.
using LookupFunction = std::function<Resolver::Answer(const std::string& name)>;
Resolver::Answer look_up_by_system(const std::string& name);

// Used on the loop's thread; the loop outlives it. A lookup cannot be stopped: destroying the
// resolver leaves those that are under way to their threads, which then end and touch nothing.
std::shared_ptr<Resolver> make_thread_resolver(Loop& loop, ResolverOptions options = {},
                                               LookupFunction lookup = look_up_by_system);

}  // namespace pawl
