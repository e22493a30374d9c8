// The list of what is to be done. It has no state of its own: each call brings the whole list and
// gets it back as text, so that the transcript is all there is to keep, replay and show.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "pawl/port/tool.h"

namespace pawl {

std::shared_ptr<Tool> make_todo_tool(const ToolSpec& spec, Loop& loop);

// {"ok":true,"output":"[x] one\n[>] two\n[ ] three\n","items":[…],"files":[]}
Result<std::string> todo_result(std::string_view input);

// An operation that answers when the loop comes round, unless it is destroyed before.
template <class Answer>
std::unique_ptr<Operation> answer_later(Loop& loop, std::function<void(Answer)> done,
                                        Answer answer) {
  class Later : public Operation {
   public:
    explicit Later(std::shared_ptr<std::function<void(Answer)>> waiting)
        : waiting_(std::move(waiting)) {}
    ~Later() override { *waiting_ = {}; }
    void abort() override {}  // the answer is on its way

   private:
    std::shared_ptr<std::function<void(Answer)>> waiting_;
  };
  auto waiting = std::make_shared<std::function<void(Answer)>>(std::move(done));
  loop.post([waiting, answer = std::move(answer)] {
    if (auto tell = std::exchange(*waiting, {})) tell(answer);
  });
  return std::make_unique<Later>(std::move(waiting));
}

}  // namespace pawl
