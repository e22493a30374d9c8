// Waiting for what the loop answers.
#pragma once

#include <optional>
#include <utility>

#include "pawl/port/main_loop.h"

namespace pawl {

// Calls `begin` with a callback and runs the loop until it is called.
template <class Answer, class Begin>
Answer wait_for(MainLoop& loop, const Begin& begin) {
  std::optional<Answer> answer;
  begin([&](Answer given) { answer = std::move(given); });
  loop.run_until([&] { return answer.has_value(); });
  return *std::move(answer);
}

}  // namespace pawl
