// A typed answer: the model is asked for JSON that fits a schema, as often as the bounds allow, and
// the caller gets a value or an error that says why there is none.
#pragma once

#include <concepts>
#include <string>
#include <utility>

#include "pawl/base/json.h"
#include "pawl/library/runner.h"

namespace pawl {

// struct Verdict {
//   static std::string json_schema();                    // the text of a JSON Schema
//   static Result<Verdict> from_json(const Json& json);  // of what fits it
// };
template <class T>
concept Generated = requires(const Json& json) {
  { T::json_schema() } -> std::convertible_to<std::string>;
  { T::from_json(json) } -> std::same_as<Result<T>>;
};

template <Generated T>
Result<T> generate_with(Runner& runner, RunnableAgent agent, std::string input,
                        std::shared_ptr<const InvocationContext> context = nullptr) {
  agent.charter.output_schema = T::json_schema();
  const Runner::Result result = runner.run(agent, std::move(input), std::move(context));
  if (result.status != RunStatus::done) {
    return Error{ErrorCode::unavailable,
                 "run " + result.run_id.text + " gave no answer: " +
                     (result.error.empty() ? result.stop_reason : result.error)};
  }
  PAWL_TRY(const Json json, parse_json(result.output));
  return T::from_json(json);
}

}  // namespace pawl
