#include "pawl/gate/approvals/approval_signature.h"

#include <fmt/format.h>

#include <algorithm>

#include "pawl/base/base64.h"
#include "pawl/base/ed25519.h"

namespace pawl {

std::optional<SignedQuestion> question_about(const RunState& state, CallId id) {
  const Call* call = find_call(state, id);
  const auto* waiting = call == nullptr ? nullptr : std::get_if<CallAwaitingPerson>(&call->state);
  if (waiting == nullptr) return std::nullopt;
  return SignedQuestion{state.id,     state.started_at_ms, id,
                        waiting->seq, waiting->binding,    waiting->expires_at_ms};
}

std::string approval_message(const SignedQuestion& question, InterruptDecision decision,
                             const std::optional<Content>& edited) {
  const std::string* const bytes = edited ? edited->bytes() : nullptr;
  std::string arguments = "as shown";
  if (bytes != nullptr) arguments = to_hex(sha256(*bytes));
  if (edited && bytes == nullptr) arguments = to_hex(std::get<BlobRef>(edited->held).digest);
  return fmt::format(
      "pawl approval 1\nrun {}\nstarted {}\ncall {}\nasked {}\nbinding {}\nexpires {}\nverdict "
      "{}\narguments {}\n",
      question.run.text, question.started_at_ms, to_string(question.call), question.asked_seq,
      to_hex(question.binding), question.expires_at_ms, name(decision), arguments);
}

std::string start_message(const RunStarted& event) {
  std::string text =
      fmt::format("pawl start 2\nrun {}\ntenant {}\ncharter {}\nproject docs {}\n", event.run.text,
                  event.tenant, to_hex(event.charter_digest), to_hex(event.project_docs.digest()));
  // Digests, as the name of a file may hold anything.
  for (const AcceptedPolicy& policy : event.policies) {
    text +=
        fmt::format("policy {} {}\n", to_hex(sha256(policy.file)), to_hex(policy.source.digest()));
  }
  for (const PinnedFile& file : event.files) {
    text += fmt::format("file {} {}\n", to_hex(sha256(file.path)), to_hex(file.digest));
  }
  return text + fmt::format("sessions {}\n", name(event.file_sessions));
}

Status prove_starter(RunStarted& event, const Sign& sign) {
  if (event.approvers != Approvers::others || event.tools.empty()) return ok();
  if (!sign) {
    return Error{ErrorCode::invalid_argument,
                 "two people have to agree in this run (four_eyes), so it must be known who starts "
                 "it: pass --identity FILE with a key that the policy lists"};
  }
  PAWL_TRY(event.start_signature, sign(start_message(event)));
  event.started_by = signer_of(event.signers, start_message(event), event.start_signature);
  if (!event.started_by.empty()) return ok();
  return Error{ErrorCode::invalid_argument,
               "the policy lists the key of this identity under no name; the operator adds it to "
               "\"approvers\" (pawl identity show prints it)"};
}

std::string signer_of(const std::vector<Signer>& signers, std::string_view message,
                      std::string_view signature) {
  const auto bytes = from_base64(signature);
  if (!bytes) return {};
  for (const Signer& signer : signers) {
    for (const std::string& text : signer.keys) {
      const auto key = parse_public_key(text);
      if (key && verify_ed25519(*key, message, *bytes)) return signer.name;
    }
  }
  return {};
}

std::vector<Signer> common_signers(const std::vector<Signer>& one,
                                   const std::vector<Signer>& other) {
  std::vector<Signer> both;
  for (const Signer& mine : one) {
    const auto same = std::find_if(other.begin(), other.end(),
                                   [&](const Signer& theirs) { return theirs.name == mine.name; });
    if (same == other.end()) continue;
    Signer kept{mine.name, mine.keys};
    std::erase_if(kept.keys, [&](const std::string& key) {
      return std::find(same->keys.begin(), same->keys.end(), key) == same->keys.end();
    });
    if (!kept.keys.empty()) both.push_back(std::move(kept));
  }
  return both;
}

std::string SignatureAudit::take(const Record& record) {
  if (const auto* started = std::get_if<RunStarted>(&record.event)) {
    signers_ = started->signers;
    approvers_ = started->approvers;
    run_ = started->run;
    started_by_ = started->started_by;
    started_at_ms_ = record.stamp.at_ms;
    if (started->forked_from) prefix_end_ = started->forked_from->seq + 1;
    const bool proven =
        started->start_signature.empty() ||
        signer_of(signers_, start_message(*started), started->start_signature) == started_by_;
    if (!proven) return "the signature of the run's start is not by " + started_by_;
  }
  std::string fault;
  if (const auto* decided = std::get_if<CallDecided>(&record.event)) {
    fault = check(*decided, record.seq);
  }
  for (const Decision& decision : record.decisions) {
    const auto* asked = std::get_if<ApprovalAsked>(&decision);
    if (asked == nullptr) continue;
    asked_[asked->call] = {run_,       started_at_ms_, asked->call,
                           record.seq, asked->binding, asked->expires_at_ms};
  }
  return fault;
}

// Of a fork's prefix the signatures are over its parent's questions: what was decided there is not
// decided again.
std::string SignatureAudit::check(const CallDecided& decided, std::uint64_t seq) const {
  const auto asked = asked_.find(decided.call);
  if (decided.signed_by.empty() || asked == asked_.end() || seq < prefix_end_) return {};
  const std::string message = approval_message(asked->second, decided.decision, decided.edited);
  if (signer_of(signers_, message, decided.signature) == decided.signed_by) return {};
  return fmt::format("record {}: the signature of {} is not by {}", seq, to_string(decided.call),
                     decided.signed_by);
}

}  // namespace pawl
