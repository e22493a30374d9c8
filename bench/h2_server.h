// The server that HTTP/2 is measured against: node's, in a process of its own, with a certificate
// that `openssl` makes for it.
//   GET  /stream   a head, one delta at once, and when go() has been said a delta in each interval
//   POST /small    a short answer
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "bench/http_server.h"
#include "tests/support/temp_directory.h"

namespace pawl::bench {

class H2ServerProcess {
 public:
  // Ends the program with a sentence where there is no node or no openssl.
  explicit H2ServerProcess(HttpServerPlan plan);
  ~H2ServerProcess();
  H2ServerProcess(const H2ServerProcess&) = delete;
  H2ServerProcess& operator=(const H2ServerProcess&) = delete;

  std::string url(const std::string& path) const;
  std::string ca_bundle() const { return directory_ / "cert.pem"; }
  void go() const;

 private:
  TempDirectory directory_;
  pid_t pid_ = -1;
  int orders_ = -1;  // a byte on it is go()
  std::uint16_t port_ = 0;
};

}  // namespace pawl::bench
