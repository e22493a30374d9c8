// For tests that use parts of the client without a CurlMulti, which loads libcurl.
#pragma once

#include "pawl/adapter/http_curl/libcurl.h"

namespace pawl::http_curl {

inline const bool kLibcurlIsLoaded = load_libcurl().has_value();

}  // namespace pawl::http_curl
