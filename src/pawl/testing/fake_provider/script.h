// Which reply goes to which request: a list of replies with conditions, or the echo when there is
// no script. The format for people is docs/fake-provider.md; script_reader.h reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pawl/testing/fake_provider/dialects/model_request.h"
#include "pawl/testing/fake_provider/reply.h"

namespace pawl::fake {

inline constexpr std::size_t kScriptedRepliesMax = 100'000;
inline constexpr std::size_t kScriptModelsMax = 10'000;

// What is given must hold, all of it.
struct ReplyCondition {
  std::string model;      // the name, or a beginning that ends with *
  std::string user;       // stands somewhere in the last user text
  std::uint64_t nth = 0;  // the number of the model request, from 1; 0: any
};

struct ScriptedReply {
  ReplyCondition when;
  FakeReply reply;
  std::uint64_t times = 1;  // how often it is given; kForEver
};

enum class KeyCheck : std::uint8_t { required, off };

struct FakeScript {
  std::string name = "script";
  std::vector<ScriptedReply> replies;  // empty: the echo
  enum class AfterLast : std::uint8_t { ends, begins_again } after_last = AfterLast::ends;
  std::vector<std::string> models;  // empty: every name is known
  KeyCheck keys = KeyCheck::required;

  FakeScript() = default;
  explicit FakeScript(std::vector<FakeReply> list);  // one after the other
};

bool condition_holds(const ReplyCondition& condition, const ModelRequest& request,
                     std::uint64_t nth);
bool knows_model(const FakeScript& script, const std::string& model);

// The position in a script: how often each reply was given.
class ScriptRun {
 public:
  explicit ScriptRun(FakeScript script);

  // The first reply that is not used up and whose condition holds; not_found: there is none.
  Result<FakeReply> next(const ModelRequest& request, std::uint64_t nth);
  const FakeScript& script() const { return script_; }

 private:
  FakeScript script_;
  std::vector<std::uint64_t> given_;
};

// The last user text; for each line "call TOOL {json}" that names a tool of the request, a call.
FakeReply echo_reply(const ModelRequest& request);

}  // namespace pawl::fake
