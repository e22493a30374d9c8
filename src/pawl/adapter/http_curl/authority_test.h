// Servers with certificates, for tests. With the openssl program.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "pawl/adapter/http_curl/curl_client.h"
#include "tests/contract/http_contract_support.h"
#include "tests/support/child_server.h"
#include "tests/support/temp_directory.h"

namespace pawl {

// A certificate authority of the test's own, and what it has signed.
class TestAuthority {
 public:
  TestAuthority() {
    run("openssl req -x509 " + key("ca") + " -out ca.pem -subj /CN=pawl-test-authority -days 2");
  }

  // `days` may be negative: then it has expired.
  void sign(const std::string& name, const std::string& alternatives, int days) const {
    run("openssl req " + key(name) + " -out " + name + ".csr -subj /CN=" + name +
        " -addext subjectAltName=" + alternatives + " && openssl x509 -req -in " + name +
        ".csr -CA ca.pem -CAkey ca.key -CAcreateserial -copy_extensions copy -out " + name +
        ".pem -days " + std::to_string(days));
  }
  void sign_itself(const std::string& name) const {
    run("openssl req -x509 " + key(name) + " -out " + name +
        ".pem -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -days 2");
  }
  std::string operator/(const std::string& file) const { return directory_ / file; }

 private:
  static std::string key(const std::string& name) {
    return "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout " + name + ".key";
  }
  void run(const std::string& command) const {
    const std::string line = "cd '" + directory_.path() + "' && (" + command + ") 2> /dev/null";
    REQUIRE(std::system(line.c_str()) == 0);
  }

  TempDirectory directory_;
};

inline bool is_missing(const char* program) {
  if (has_program(program)) return false;
  MESSAGE("skipped: there is no " << program << " on this machine");
  return true;
}

inline contract::HttpSubject trusting(const std::string& ca_bundle) {
  CurlOptions options;
  options.ca_bundle = ca_bundle;
  return {[options](SocketLoop& loop) { return make_curl_client(loop, options); }};
}

}  // namespace pawl
