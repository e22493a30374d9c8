// The same exchange by nothing but libcurl: what the client is compared with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pawl::bench {

// `requests` POSTs, `at_once` at a time, on curl_multi_poll(), each handle set up once and used
// again. Ends the process when one of them fails.
void run_raw_curl(const std::string& url, const std::string& body, std::uint64_t requests,
                  std::size_t at_once, const std::vector<std::string>& headers = {});

}  // namespace pawl::bench
