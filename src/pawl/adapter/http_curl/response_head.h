// Reads the head of a response, line by line, within a bound that counts every header byte of the
// exchange: interim responses and trailers, too, so that a flood of them ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pawl/port/http.h"

namespace pawl::http_curl {

class ResponseHeadReader {
 public:
  explicit ResponseHeadReader(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  enum class Step : std::uint8_t {
    more,
    complete,   // that of the final response; once
    too_large,  // over bytes_max
    refused,    // framing or encoding that no server should send; see why()
  };
  Step on_line(std::string_view line);

  const HttpResponseHead& head() const { return head_; }
  HttpResponseHead take() { return std::move(head_); }
  const char* why() const { return why_; }

 private:
  Step on_status(std::string_view line);
  Step on_field(std::string_view line);
  Step on_blank();
  Step refuse(const char* why);

  const std::uint64_t bytes_max_;
  std::uint64_t bytes_ = 0;
  enum class Stage : std::uint8_t { status, fields, after } stage_ = Stage::status;
  const char* why_ = "";
  HttpResponseHead head_;
};

}  // namespace pawl::http_curl
