#include "pawl/tools/common/common_tool.h"

namespace pawl {

// It is never executed: the run waits for a person.
const CommonTool& ask_user_tool() {
  static constexpr CommonTool kTool{
      .name = "ask_user",
      .description = "Asks the person who started the run, and waits for the answer.",
      .schema = R"({"type":"object","properties":{
"question":{"type":"string","minLength":1,"maxLength":4000},
"options":{"type":"array","maxItems":20,"items":{"type":"string","minLength":1,"maxLength":500},
"description":"Answers to choose from; a free answer unless given"}},
"required":["question"],"additionalProperties":false})",
      .effect = EffectClass::once,
      .needs = {.person = true},
  };
  return kTool;
}

}  // namespace pawl
