#include "pawl/testing/fake_provider/spoil.h"

#include <doctest/doctest.h>

namespace pawl::fake {
namespace {

FakeReply spoiled(FakeReply reply, FaultSpec fault, const std::string& key = "sk-1") {
  reply.fault = std::move(fault);
  spoil(reply, key);
  return reply;
}

FaultSpec of(FaultKind kind) {
  FaultSpec fault;
  fault.kind = kind;
  return fault;
}

TEST_CASE("a status is an error, and one about the key repeats it") {
  FaultSpec fault = of(FaultKind::status);
  fault.status = 429;
  fault.retry_after = "soon";
  const FakeReply late = spoiled(FakeReply::say("a"), fault);
  REQUIRE(late.error);
  CHECK(late.error->status == 429);
  CHECK(late.error->retry_after == "soon");
  CHECK(late.error->message.find("sk-1") == std::string::npos);

  fault.status = 401;
  CHECK(spoiled(FakeReply::say("a"), fault).error->message == "Incorrect API key provided: sk-1.");
  fault.message = "no {{key}}, no reply";
  CHECK(spoiled(FakeReply::say("a"), fault).error->message == "no sk-1, no reply");
}

TEST_CASE("inputs are cut or deep, and calls are many") {
  const FakeReply cut =
      spoiled(FakeReply::call("t", R"({"a":"b"})"), of(FaultKind::truncated_input));
  CHECK(cut.calls[0].input == R"({"a")");
  CHECK(spoiled(FakeReply::say("a"), of(FaultKind::truncated_input)).calls.size() == 1);

  FaultSpec deep = of(FaultKind::deep_json);
  deep.count = 3;
  CHECK(spoiled(FakeReply::call("t"), deep).calls[0].input == "[[[]]]");
  CHECK(spoiled(FakeReply::call("t"), of(FaultKind::deep_json)).calls[0].input.size() == 200'000);

  FaultSpec many = of(FaultKind::many_calls);
  many.count = 50;
  CHECK(spoiled(FakeReply::call("t"), many).calls.size() == 50);
}

TEST_CASE("other faults leave what is said alone") {
  const FakeReply reply = spoiled(FakeReply::say("a"), of(FaultKind::stall));
  CHECK(!reply.error);
  CHECK(reply.calls.empty());
}

}  // namespace
}  // namespace pawl::fake
