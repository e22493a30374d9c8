// Signatures of approvals: what is signed, and whose signature it is. No I/O; the private keys are
// elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/kernel/record.h"
#include "pawl/kernel/run.h"
#include "pawl/result.h"

namespace pawl {

inline constexpr std::size_t kSignersMax = 256;    // people of one policy
inline constexpr std::size_t kSignerKeysMax = 16;  // of one person

// One question to people. No other run, call or question has the same.
struct SignedQuestion {
  RunId run;
  std::int64_t started_at_ms = 0;  // of the run
  CallId call{};
  std::uint64_t asked_seq = 0;  // the record that asks
  Digest binding;               // of what is shown
  std::int64_t expires_at_ms = 0;
};
// Nothing where the call waits for no person.
std::optional<SignedQuestion> question_about(const RunState& state, CallId call);

// The text that an approver signs. `edited`: the arguments to use instead.
std::string approval_message(const SignedQuestion& question, InterruptDecision decision,
                             const std::optional<Content>& edited);
// The text that the person signs who starts a run or a fork.
std::string start_message(const RunStarted& event);

// Signs a text, in base64. An error: there is no key, or it cannot be read.
using Sign = std::function<Result<std::string>(const std::string& message)>;
// Where two people have to agree, whoever starts a run is known by a signature, not by a user's
// name. invalid_argument: there is none, or it is no listed person's.
Status prove_starter(RunStarted& event, const Sign& sign);

// Whose signature (base64) of the message it is; empty: no listed person's.
std::string signer_of(const std::vector<Signer>& signers, std::string_view message,
                      std::string_view signature);
// The people that both lists have, with the keys that both have.
std::vector<Signer> common_signers(const std::vector<Signer>& one,
                                   const std::vector<Signer>& other);

// Verifies the signatures of a journal once more, from its records alone.
class SignatureAudit {
 public:
  // What is wrong with a signature of this record; empty: nothing.
  std::string take(const Record& record);

 private:
  std::string check(const CallDecided& decided, std::uint64_t seq) const;

  std::vector<Signer> signers_;
  Approvers approvers_ = Approvers::anyone;
  RunId run_;
  std::string started_by_;
  std::int64_t started_at_ms_ = 0;
  std::uint64_t prefix_end_ = 0;  // of a fork: the records that are its parent's end before
  std::map<CallId, SignedQuestion> asked_;
};

}  // namespace pawl
