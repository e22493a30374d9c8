#include "pawl/gate/approvals/approvals_remembered.h"

#include "pawl/base/utf8.h"
#include "pawl/json.h"

namespace pawl {
namespace {

constexpr std::size_t kSumDigits = 16;

// Of all that a line says: one flipped bit would make it another approval, or none.
std::string sum_of(const RememberedApproval& approval) {
  Sha256 sum;
  for (const std::string& text : {to_hex(approval.binding), approval.project, approval.tool,
                                  approval.input, approval.by, std::to_string(approval.at_ms)}) {
    sum.add(std::to_string(text.size()) + ":").add(text);
  }
  return to_hex(sum.finish()).substr(0, kSumDigits);
}

Result<RememberedApproval> read_line(std::string_view line) {
  PAWL_TRY(const Json json, parse_json(line));
  const auto text = [&json](std::string_view key) {
    const Json* value = json.is_object() ? json.object().find(key) : nullptr;
    return value != nullptr && value->is_string() ? value->string() : std::string();
  };
  const auto binding = digest_from_hex(text("binding"));
  const Json* at = json.is_object() ? json.object().find("at_ms") : nullptr;
  if (!binding || at == nullptr || !at->as_int64()) {
    return Error{ErrorCode::corrupt, "no approval"};
  }
  RememberedApproval approval{*binding,      text("project"), text("tool"),
                              text("input"), text("by"),      *at->as_int64()};
  if (text("sum") != sum_of(approval) || text("id") != approval.id()) {
    return Error{ErrorCode::corrupt, "its sum does not fit"};
  }
  return approval;
}

}  // namespace

Result<RememberedApproval> remembered_of(const PendingApproval& pending, const RunState& state,
                                         std::string by, std::int64_t at_ms) {
  const bool by_rule = pending.stage == GateStage::rule || pending.stage == GateStage::shell;
  if (!by_rule || pending.kind != InterruptKind::approval) {
    return Error{ErrorCode::conflict, to_string(pending.call) + " is asked about by " +
                                          std::string(name(pending.stage)) +
                                          ", which asks every time; approve it without --always"};
  }
  if (state.approvers != Approvers::anyone) {
    return Error{ErrorCode::conflict,
                 "each call of this run needs a signature; approve it without --always"};
  }
  std::string input = pending.input.substr(0, kRememberedInputBytesMax);
  return RememberedApproval{pending.binding,      state.directory, pending.tool,
                            to_valid_utf8(input), std::move(by),   at_ms};
}

std::string remembered_line(const RememberedApproval& given) {
  RememberedApproval approval = given;
  approval.project = to_valid_utf8(given.project);
  JsonWriter out;
  out.begin_object().field("id", approval.id()).field("binding", to_hex(approval.binding));
  out.field("project", approval.project).field("tool", approval.tool);
  out.field("input", approval.input).field("by", approval.by).field("at_ms", approval.at_ms);
  out.field("sum", sum_of(approval));
  return out.end_object().take() + "\n";
}

Result<std::vector<RememberedApproval>> read_remembered(std::string_view text) {
  std::vector<RememberedApproval> all;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    auto one = read_line(text.substr(0, end));
    if (!one || all.size() == kRememberedMax) {
      return Error{ErrorCode::corrupt, "line " + std::to_string(line) + " is " +
                                           (one ? "one too many" : "damaged, or not an approval")};
    }
    all.push_back(*std::move(one));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

}  // namespace pawl
