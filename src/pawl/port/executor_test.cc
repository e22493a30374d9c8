#include "pawl/executor.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

TEST_CASE("exactly one resume strategy is accepted") {
  ExecutorCapabilities none;
  ExecutorCapabilities both;
  both.supports_session_resume = true;
  both.supports_conversation_replay = true;
  ExecutorCapabilities replay;
  replay.supports_conversation_replay = true;
  ExecutorCapabilities session;
  session.supports_session_resume = true;

  CHECK(!check_capabilities(none));
  CHECK(!check_capabilities(both));
  CHECK(check_capabilities(replay));
  CHECK(check_capabilities(session));
}

}  // namespace
}  // namespace pawl
