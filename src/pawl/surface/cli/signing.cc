#include "pawl/surface/cli/signing.h"

#include "pawl/base/base64.h"

namespace pawl {
namespace {

Result<std::vector<Signer>> signers_of(const Service& service, const RunId& run) {
  PAWL_TRY(const Record first, service.record(run, 0));
  const auto* started = std::get_if<RunStarted>(&first.event);
  return started == nullptr ? std::vector<Signer>() : started->signers;
}

Status check_signer(const CliContext& context, const std::string& signer) {
  const auto by = context.arguments.one("by");
  if (signer.empty() && context.arguments.has("signature")) {
    return Error{ErrorCode::conflict,
                 "the signature is not by an approver of the run's policy, or of another text than "
                 "the one that pawl approvals --json shows as to_sign"};
  }
  if (signer.empty()) {
    return Error{ErrorCode::conflict, "the run's policy lists the key of " +
                                          identity_path(context) +
                                          " under no name (pawl identity show prints it)"};
  }
  if (!by || *by == signer) return ok();
  return Error{ErrorCode::conflict, "the signature is by " + signer + ", not by " + *by};
}

}  // namespace

std::string identity_path(const CliContext& context) {
  return context.arguments.one_or("identity", context.settings.identity);
}

Result<SigningKey> identity_of(const CliContext& context) {
  const std::string path = identity_path(context);
  const auto pem = path.empty() ? Error{ErrorCode::not_found, "there is no HOME"}
                                : context.environment.read_text(path);
  if (!pem) {
    return Error{ErrorCode::invalid_argument,
                 "there is no identity: " + pem.error().message +
                     "; make one with pawl identity new, or name it with --identity FILE"};
  }
  auto key = SigningKey::of_pem(*pem);
  if (!key) return Error{ErrorCode::invalid_argument, path + ": " + key.error().message};
  return key;
}

Sign signer_for(const CliContext& context) {
  return [&context](const std::string& message) -> Result<std::string> {
    PAWL_TRY(const SigningKey key, identity_of(context));
    return to_base64(key.sign(message));
  };
}

Status sign_decided(const CliContext& context, const Service& service, const RunState& state,
                    CallId call, Decided& decided) {
  const bool given = context.arguments.has("identity") || context.arguments.has("signature");
  if (state.approvers == Approvers::anyone && !given) return ok();
  const auto question = question_about(state, call);
  if (!question) return ok();  // decision_about() says so.
  PAWL_TRY(const std::vector<Signer> signers, signers_of(service, state.id));
  if (signers.empty()) {
    return Error{ErrorCode::conflict,
                 "run " + state.id.text +
                     " was started within no policy that lists approvers: it "
                     "takes no signatures; approve it without --identity and --signature"};
  }
  std::optional<Content> edited;
  if (decided.edited) edited = Content(*decided.edited);
  const std::string message = approval_message(*question, decided.decision, edited);
  if (const auto signature = context.arguments.one("signature")) {
    decided.signature = *signature;
  } else {
    PAWL_TRY(decided.signature, signer_for(context)(message));
  }
  decided.signed_by = signer_of(signers, message, decided.signature);
  PAWL_CHECK(check_signer(context, decided.signed_by));
  decided.by = decided.signed_by;
  return ok();
}

}  // namespace pawl
