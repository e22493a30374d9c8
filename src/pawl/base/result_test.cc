#include "pawl/result.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

namespace pawl {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return Error{ErrorCode::invalid_argument, "odd"};
  return value / 2;
}

Result<int> quarter(int value) {
  PAWL_TRY(const int first, half(value));
  PAWL_TRY(const int second, half(first));
  return second;
}

Status check_quarter(int value) {
  PAWL_CHECK(quarter(value));
  return ok();
}

TEST_CASE("PAWL_TRY binds the value or hands the error on") {
  CHECK(*quarter(8) == 2);
  REQUIRE_FALSE(quarter(6));
  CHECK(quarter(6).error() == Error{ErrorCode::invalid_argument, "odd"});
}

TEST_CASE("PAWL_CHECK hands only the error on") {
  CHECK(check_quarter(4));
  CHECK(check_quarter(3).error().message == "odd");
}

TEST_CASE("a result carries a type that can only be moved") {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  REQUIRE(result.has_value());

  const std::unique_ptr<int> taken = *std::move(result);

  CHECK(*taken == 7);
}

TEST_CASE("a result reaches into its value") {
  Result<std::string> result = std::string("abc");
  result->push_back('d');
  const Result<std::string>& view = result;

  CHECK(view->size() == 4);
  CHECK(view.value() == "abcd");
}

TEST_CASE("every error code has a name") {
  CHECK(name(ErrorCode::invalid_argument) == "invalid_argument");
  CHECK(name(ErrorCode::not_found) == "not_found");
  CHECK(name(ErrorCode::conflict) == "conflict");
  CHECK(name(ErrorCode::limit_exceeded) == "limit_exceeded");
  CHECK(name(ErrorCode::unavailable) == "unavailable");
  CHECK(name(ErrorCode::corrupt) == "corrupt");
  CHECK(name(ErrorCode::cancelled) == "cancelled");
}

}  // namespace
}  // namespace pawl
