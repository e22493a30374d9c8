// Carries connections of a network namespace to the proxy that enforces the list of hosts.
//
// The listening socket was opened inside and is accepted from outside: nothing of this runs in the
// sandbox.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>

#include "pawl/backend.h"
#include "pawl/base/descriptor.h"

namespace pawl::backend {

inline constexpr std::size_t kForwardedMax = 64;

// Gives a connected stream descriptor to the proxy, owned by the caller; -1: not now. Called from
// the forwarder's thread.
using ProxyConnector = std::function<int()>;
// The same for whatever session has that context: its run, and its policy of the network.
using SessionConnector = std::function<int(const ExecutionContext& context)>;

class ProxyForwarder {
 public:
  // The listener is the caller's, and stays open until this object is gone.
  ProxyForwarder(int listener, ProxyConnector connect);
  ProxyForwarder(const ProxyForwarder&) = delete;
  ProxyForwarder& operator=(const ProxyForwarder&) = delete;
  ~ProxyForwarder();

 private:
  void serve();

  int listener_;
  ProxyConnector connect_;
  Descriptor stop_;
  std::thread thread_;
};

}  // namespace pawl::backend
