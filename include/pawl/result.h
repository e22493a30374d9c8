// Errors as values, and assertions for what only a bug can bring about.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace pawl {

// --- PAWL_ASSERT stops the process on a bug, in release builds too: a kernel that goes on after a
// broken invariant would journal nonsense, and a journal outlives the process.

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace pawl

#define PAWL_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::pawl::assertion_failed(#condition, __FILE__, __LINE__))

namespace pawl {

// What the caller can do about a failure. A new code needs a caller that treats it differently;
// anything finer belongs in the message.
enum class ErrorCode : std::uint8_t {
  invalid_argument,  // The caller's input is wrong; retrying the same input cannot succeed.
  not_found,
  conflict,        // Someone else moved first: reload, or leave it to them.
  limit_exceeded,  // A named maximum was reached.
  unavailable,     // The outside world did not answer; retrying later may succeed.
  corrupt,         // Stored bytes are not what was written.
  cancelled,
};

std::string_view name(ErrorCode code);

struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::invalid_argument;
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  explicit operator bool() const noexcept { return state_.index() == 0; }
  bool has_value() const noexcept { return state_.index() == 0; }

  T& value() & { return checked(); }
  const T& value() const& { return const_cast<Result*>(this)->checked(); }
  T&& value() && { return std::move(checked()); }
  T& operator*() & { return checked(); }
  const T& operator*() const& { return const_cast<Result*>(this)->checked(); }
  T&& operator*() && { return std::move(checked()); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &const_cast<Result*>(this)->checked(); }

  const Error& error() const& {
    PAWL_ASSERT(state_.index() == 1);
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    PAWL_ASSERT(state_.index() == 1);
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  T& checked() {
    PAWL_ASSERT(state_.index() == 0);
    return *std::get_if<0>(&state_);
  }

  std::variant<T, Error> state_;
};

struct Done {
  friend bool operator==(const Done&, const Done&) = default;
};
using Status = Result<Done>;
inline Status ok() {
  return Done{};
}

}  // namespace pawl

#define PAWL_CONCAT_INNER(a, b) a##b
#define PAWL_CONCAT(a, b) PAWL_CONCAT_INNER(a, b)

// PAWL_TRY(auto run, load(id)): binds the value, or returns the error to the caller. Standard C++
// on purpose: no statement expressions. It expands to two statements, so it needs a block of its
// own.
#define PAWL_TRY(declaration, expression) \
  PAWL_TRY_INNER(declaration, expression, PAWL_CONCAT(pawl_try_, __LINE__))
#define PAWL_TRY_INNER(declaration, expression, result) \
  auto result = (expression);                           \
  if (!result) return std::move(result).error();        \
  declaration = std::move(result).value()

// PAWL_CHECK(append(record)): returns the error of a Status to the caller.
#define PAWL_CHECK(expression)                                                                \
  do {                                                                                        \
    if (auto pawl_status = (expression); !pawl_status) return std::move(pawl_status).error(); \
  } while (false)
