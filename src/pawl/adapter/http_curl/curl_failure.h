// What libcurl's codes mean to a caller.
#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/port/http.h"

namespace pawl::http_curl {

// How far a request came before it ended.
enum class Reached : std::uint8_t { nothing, server, head };

HttpFailure failure_of(CURLcode code, Reached reached, std::string_view detail);

// For people: libcurl's own detail where it can name nothing but hosts and certificates, its
// general wording otherwise. One line, of kReasonBytesMax at most.
inline constexpr std::size_t kReasonBytesMax = 300;
// Of a head that has more bytes, or longer lines, than are read.
inline constexpr std::string_view kHeaderTooLarge = "the header is over its bound";
std::string reason_of(CURLcode code, HttpFailure failure, std::string_view detail);

}  // namespace pawl::http_curl
