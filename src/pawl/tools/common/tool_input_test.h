// Reads the arguments of a call as its tool does.
#pragma once

#include <doctest/doctest.h>

#include <string_view>
#include <variant>

#include "pawl/tools/common/common_tool.h"

namespace pawl {

template <class Request>
Request request_of(std::string_view tool, std::string_view input) {
  const auto request = read_request(*describe_common_tool(tool), input);
  REQUIRE_MESSAGE(request, request.error().message);
  REQUIRE(std::holds_alternative<Request>(*request));
  return std::get<Request>(*request);
}

// The schema should have refused such arguments; the tool does all the same.
inline bool is_refused(std::string_view tool, std::string_view input) {
  return !read_request(*describe_common_tool(tool), input);
}

}  // namespace pawl
