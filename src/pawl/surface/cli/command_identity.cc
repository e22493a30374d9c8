// identity: the key that a person's approvals are signed with.
#include "pawl/base/base64.h"
#include "pawl/json.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/escape.h"
#include "pawl/surface/cli/signing.h"

namespace pawl {
namespace {

constexpr std::size_t kIdentityPathMax = 400;

int tell(const CliContext& context, const SigningKey& key) {
  const std::string text = public_key_text(key.public_key());
  if (context.format() == Format::json) {
    JsonWriter json;
    json.begin_object().field("file", identity_path(context)).field("public_key", text);
    print(context, json.end_object().take() + "\n");
  } else {
    print(context, text + "\n");
  }
  return kExitDone;
}

int make_identity(const CliContext& context) {
  const std::string path = identity_path(context);
  const auto passphrase = context.arguments.has("passphrase") ? SigningKey::Passphrase::asked
                                                              : SigningKey::Passphrase::none;
  auto key = SigningKey::make();
  if (!key) return fail(context, key.error());
  const auto pem = key->to_pem(passphrase);
  if (!pem) return fail(context, pem.error());
  if (path.empty()) {
    return fail(context, {ErrorCode::invalid_argument, "there is no HOME; name --identity FILE"});
  }
  if (const Status kept = context.environment.write_private(path, *pem); !kept) {
    return fail(context, kept.error());
  }
  if (context.format() == Format::text) {
    context.console().write(Stream::err, "the key is in " + safe_line(path, kIdentityPathMax) +
                                             "; this is its public part, for \"approvers\" of the "
                                             "operator's policy:\n");
  }
  return tell(context, *key);
}

int sign_text(const CliContext& context) {
  const auto text = context.environment.read_text(context.arguments.one_or("FILE", "-"));
  if (!text) return fail(context, text.error());
  const auto signature = signer_for(context)(*text);
  if (!signature) return fail(context, signature.error());
  print(context, *signature + "\n");
  return kExitDone;
}

int command_identity(const CliContext& context) {
  const std::string action = context.arguments.one_or("ACTION", "show");
  if (action == "new") return make_identity(context);
  if (action == "sign") return sign_text(context);
  if (action != "show") {
    return fail(context, {ErrorCode::invalid_argument,
                          "pawl identity has the actions new, show and sign, not " + action});
  }
  const auto key = identity_of(context);
  return key ? tell(context, *key) : fail(context, key.error());
}

}  // namespace

CommandEntry identity_entry() {
  return {
      .name = "identity",
      .summary = "Make, show or use the key that your approvals are signed with",
      .text =
          "new makes an Ed25519 key, show prints its public part for \"approvers\" of the "
          "operator's policy, sign prints a signature of a text.",
      .arguments = {{"ACTION", "new, show or sign. Default: show.", Need::optional},
                    {"FILE", "sign: the text; - reads it from standard input, the default.",
                     Need::optional}},
      .options = {kIdentityOption,
                  {"passphrase", '\0', Takes::nothing, "",
                   "new: protect the key with a passphrase, which is asked for at the terminal."}},
      .run = command_identity,
  };
}

}  // namespace pawl
