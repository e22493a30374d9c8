#include "pawl/gate/approvals/approval_signature.h"

#include <doctest/doctest.h>

#include "pawl/base/base64.h"
#include "pawl/base/ed25519.h"

namespace pawl {
namespace {

SigningKey key_of(char letter) {
  auto key = SigningKey::of_seed(std::string(kEd25519KeyBytes, letter));
  REQUIRE(key);
  return *std::move(key);
}

Signer signer(std::string name, std::string_view letters) {
  Signer made{std::move(name), {}};
  for (const char letter : letters) {
    made.keys.push_back(public_key_text(key_of(letter).public_key()));
  }
  return made;
}

const SignedQuestion kQuestion = {RunId{"r"}, 5, CallId{1}, 7, sha256("shown"), 99};

std::string signed_by(char letter, const SignedQuestion& question,
                      InterruptDecision decision = InterruptDecision::approve) {
  return to_base64(key_of(letter).sign(approval_message(question, decision, {})));
}

TEST_CASE("sc-A24 a signature is a person's, whichever of their keys made it") {
  const std::vector<Signer> people = {signer("ann", "ab"), signer("bob", "c")};
  const std::string message = approval_message(kQuestion, InterruptDecision::approve, {});
  CHECK(signer_of(people, message, signed_by('a', kQuestion)) == "ann");
  CHECK(signer_of(people, message, signed_by('b', kQuestion)) == "ann");
  CHECK(signer_of(people, message, signed_by('c', kQuestion)) == "bob");
  CHECK(signer_of(people, message, signed_by('d', kQuestion)) == "");
  CHECK(signer_of(people, message, "") == "");
  CHECK(signer_of(people, message, "not base64") == "");
}

TEST_CASE("sc-A05, A06 a signature is for one question and one answer") {
  const std::vector<Signer> people = {signer("bob", "c")};
  const std::string good = signed_by('c', kQuestion);
  const auto counts = [&](const SignedQuestion& question, InterruptDecision decision,
                          const std::optional<Content>& edited) {
    return signer_of(people, approval_message(question, decision, edited), good) == "bob";
  };
  CHECK(counts(kQuestion, InterruptDecision::approve, {}));
  CHECK_FALSE(counts(kQuestion, InterruptDecision::reject, {}));
  CHECK_FALSE(counts(kQuestion, InterruptDecision::approve, Content("{}")));
  SignedQuestion other = kQuestion;
  other.run.text = "s";
  CHECK_FALSE(counts(other, InterruptDecision::approve, {}));
  other = kQuestion;
  other.started_at_ms = 6;
  CHECK_FALSE(counts(other, InterruptDecision::approve, {}));
  other = kQuestion;
  other.call = CallId{2};
  CHECK_FALSE(counts(other, InterruptDecision::approve, {}));
  other = kQuestion;
  other.asked_seq = 8;
  CHECK_FALSE(counts(other, InterruptDecision::approve, {}));
  other = kQuestion;
  other.binding = sha256("another");
  CHECK_FALSE(counts(other, InterruptDecision::approve, {}));
  other = kQuestion;
  other.expires_at_ms = 100;
  CHECK_FALSE(counts(other, InterruptDecision::approve, {}));
}

TEST_CASE("people of two policies") {
  const std::vector<Signer> one = {signer("ann", "ab"), signer("bob", "c"), signer("cho", "d")};
  const std::vector<Signer> other = {signer("ann", "b"), signer("bob", "x")};
  CHECK(common_signers(one, other) == std::vector<Signer>{signer("ann", "b")});
}

RunStarted start_of(std::vector<Signer> people) {
  RunStarted event;
  event.run.text = "r";
  event.approvers = Approvers::others;
  event.signers = std::move(people);
  event.tools.emplace_back();
  event.started_by = "whoever";
  return event;
}

TEST_CASE("whoever starts a run for two is known by a key") {
  const auto signs = [](char letter) {
    return [letter](const std::string& message) -> Result<std::string> {
      return to_base64(key_of(letter).sign(message));
    };
  };
  RunStarted event = start_of({signer("ann", "a"), signer("bob", "c")});
  CHECK(prove_starter(event, {}).error().message.find("--identity") != std::string::npos);
  CHECK_FALSE(prove_starter(event, signs('z')));
  REQUIRE(prove_starter(event, signs('a')));
  CHECK(event.started_by == "ann");
  RunStarted alone;
  alone.started_by = "root";
  CHECK(prove_starter(alone, {}));
  CHECK(alone.started_by == "root");
}

TEST_CASE("a journal's signatures are verified once more") {
  Record start;
  RunStarted event = start_of({signer("ann", "a"), signer("bob", "c")});
  event.started_by = "ann";
  event.start_signature = to_base64(key_of('a').sign(start_message(event)));
  start.stamp.at_ms = 5;
  start.event = event;
  Record asking;
  asking.seq = 7;
  asking.event = ModelReplied{};
  ApprovalAsked asked;
  asked.call = CallId{1};
  asked.binding = kQuestion.binding;
  asked.expires_at_ms = 99;
  asking.decisions.emplace_back(asked);
  CallDecided decided;
  decided.call = CallId{1};
  decided.decision = InterruptDecision::approve;
  decided.signed_by = "bob";
  decided.signature = signed_by('c', kQuestion);
  Record answer;
  answer.seq = 8;
  answer.event = decided;

  SignatureAudit good;
  CHECK(good.take(start) == "");
  CHECK(good.take(asking) == "");
  CHECK(good.take(answer) == "");
  SignatureAudit bad;
  CHECK(bad.take(start) == "");
  CHECK(bad.take(asking) == "");
  std::get<CallDecided>(answer.event).signed_by = "ann";
  CHECK(bad.take(answer) == "record 8: the signature of c1 is not by ann");
  std::get<RunStarted>(start.event).started_by = "bob";
  CHECK(SignatureAudit().take(start) == "the signature of the run's start is not by bob");
}

}  // namespace
}  // namespace pawl
