// doctor: what is well, what to watch, what is wrong.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "pawl/json.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/escape.h"
#include "pawl/surface/cli/paused_runs.h"

namespace pawl {
namespace {

constexpr std::size_t kTextColumns = 400;

std::string_view name_of(Finding::Grade grade) {
  static constexpr std::array<std::string_view, 3> kNames = {"ok", "warning", "problem"};
  return kNames[static_cast<std::size_t>(grade)];
}

std::string line_of(const CliContext& context, const Finding& finding) {
  const std::string remedy = with_data_flag(context, finding.remedy);
  return fmt::format("{:<8} {}: {}{}{}\n", name_of(finding.grade), finding.about,
                     safe_line(finding.text, kTextColumns), remedy.empty() ? "" : "; ",
                     safe_line(remedy, kTextColumns));
}

std::string json_of(const CliContext& context, const Finding& finding) {
  JsonWriter json;
  json.begin_object().field("about", finding.about).field("grade", name_of(finding.grade));
  json.field("text", finding.text).field("remedy", with_data_flag(context, finding.remedy));
  json.key("figures").begin_object();
  for (const auto& [key, value] : finding.figures) json.field(key, value);
  return json.end_object().end_object().take() + "\n";
}

int accept_loss(const CliContext& context) {
  const auto accepted = context.environment.accept_store(context.settings);
  if (!accepted) return fail(context, accepted.error());
  if (context.format() == Format::json) {
    JsonWriter json;
    json.begin_object().field("accepted", accepted->why);
    json.field("records", accepted->records).field("messages", accepted->messages);
    json.key("paused").begin_array();
    for (const std::string& run : accepted->paused) json.string(run);
    print(context, json.end_array().end_object().take() + "\n");
    return kExitDone;
  }
  if (accepted->why.empty()) {
    print(context, "nothing to accept: the store has all that was acknowledged\n");
    return kExitDone;
  }
  print(context, fmt::format("accepted: {}\n", safe_line(accepted->why, kTextColumns)));
  print(context, paused_runs_text(context, accepted->paused));
  return kExitDone;
}

int command_doctor(const CliContext& context) {
  if (context.arguments.has("accept")) return accept_loss(context);
  const Probing probing = context.arguments.has("live") ? Probing::live : Probing::none;
  const auto findings = context.environment.examine(context.settings, probing);
  std::string text;
  for (const Finding& finding : findings) {
    text +=
        context.format() == Format::json ? json_of(context, finding) : line_of(context, finding);
  }
  print(context, text);
  const bool ill = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.grade == Finding::Grade::problem;
  });
  return ill ? kExitError : kExitDone;
}

}  // namespace

CommandEntry doctor_entry() {
  return {
      .name = "doctor",
      .summary = "Look at the data directory, the machine and the providers",
      .text =
          "Says what is well, what to watch and what is wrong, each with what helps. Changes "
          "nothing without --accept. Exit code 1 when there is a problem.",
      .options = {{"live", '\0', Takes::nothing, "",
                   "Make one request to each provider that is configured, and say whether it takes "
                   "the key."},
                  {"accept", '\0', Takes::nothing, "",
                   "Go on with a store that has lost its newest records, and pause the runs that "
                   "are not over. Says what is missing."}},
      .run = command_doctor,
  };
}

}  // namespace pawl
