#include <algorithm>
#include <map>

#include "pawl/base/utf8.h"
#include "pawl/json.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/conversation.h"
#include "pawl/surface/cli/drive.h"
#include "pawl/surface/cli/escape.h"
#include "pawl/surface/cli/interactive.h"
#include "pawl/surface/cli/run_options.h"
#include "pawl/surface/cli/signing.h"
#include "pawl/surface/cli/trust_question.h"
#include "pawl/tools/staging.h"

namespace pawl {
namespace {

// The text a run gets, from the argument INPUT.
Result<std::string> input_of(const CliContext& context) {
  const std::string given = context.arguments.one_or("INPUT", "");
  std::string text = given;
  if (given == "-") {
    PAWL_TRY(text, context.environment.read_text("-"));
  } else if (given.starts_with('@')) {
    PAWL_TRY(text, context.environment.read_text(given.substr(1)));
  }
  if (!is_valid_utf8(text)) {
    return Error{ErrorCode::invalid_argument,
                 "the input is not UTF-8; convert it, e.g. with iconv"};
  }
  return text;
}

// By the ending of a file's name.
Result<std::string> media_type_of(const std::string& path) {
  static const std::map<std::string, std::string, std::less<>> kTypes = {
      {"png", "image/png"}, {"jpg", "image/jpeg"},  {"jpeg", "image/jpeg"},
      {"gif", "image/gif"}, {"webp", "image/webp"}, {"pdf", "application/pdf"},
      {"txt", "text/plain"}};
  const std::size_t dot = path.rfind('.');
  const auto found = dot == std::string::npos ? kTypes.end() : kTypes.find(path.substr(dot + 1));
  if (found != kTypes.end()) return found->second;
  return Error{ErrorCode::invalid_argument,
               "--attach " + path + ": a file ends in .png, .jpg, .gif, .webp, .pdf or .txt"};
}

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

Result<std::vector<PendingAttachment>> attachments_of(const CliContext& context) {
  std::vector<PendingAttachment> attachments;
  for (const std::string& path : context.arguments.many("attach")) {
    PAWL_TRY(std::string type, media_type_of(path));
    PAWL_TRY(std::string bytes, context.environment.read_text(path));
    if (attachments.size() == kAttachmentsMax || bytes.size() > kAttachmentBytesMax) {
      return Error{ErrorCode::invalid_argument,
                   "--attach " + path + ": at most 64 files of at most 32 MiB each"};
    }
    attachments.push_back({std::move(type), last_part(path), std::move(bytes)});
  }
  return attachments;
}

// For the tools, not for the model: one that is too large is left out, and the model is told.
Result<std::vector<InputFile>> files_of(const CliContext& context) {
  std::vector<InputFile> files;
  for (const std::string& path : context.arguments.many("file")) {
    const auto type = media_type_of(path);
    InputFile file{"", last_part(path), type ? *type : "application/octet-stream", std::nullopt};
    auto bytes = files.size() < kInputFilesMax
                     ? context.environment.read_text(path)
                     : Error{ErrorCode::limit_exceeded, "more files than are taken"};
    if (!bytes && bytes.error().code != ErrorCode::limit_exceeded) return bytes.error();
    if (bytes) {
      file.id = to_hex(sha256(*bytes));
      file.bytes = *std::move(bytes);
    }
    files.push_back(std::move(file));
  }
  return files;
}

// Copies them to where the run's tools may read, and names them in its input. A run that is there
// already keeps what it has.
Status keep_files(const CliContext& context, const Service& service, StartRequest& request) {
  PAWL_TRY(const std::vector<InputFile> files, files_of(context));
  if (files.empty()) return ok();
  const std::string directory = context.settings.data + "/inputs/" + request.id->text;
  const Staging plan = plan_inputs(files, directory);
  request.input += (request.input.empty() ? "" : "\n\n") + attached_files_block(plan);
  if (service.summary_of(*request.id)) return ok();
  for (std::size_t file = 0, kept = 0; kept < plan.staged.size(); ++file) {
    if (!files[file].bytes || files[file].bytes->size() > kInputFileBytesMax) continue;
    PAWL_CHECK(context.environment.write_new(plan.staged[kept++].path, *files[file].bytes));
  }
  if (!plan.staged.empty()) {
    const std::string digests = directory + "/" + std::string(kInputDigestsName);
    PAWL_CHECK(context.environment.write_new(digests, input_digests(plan)));
  }
  return ok();
}

// Who starts a run under an id that he chose may do so again: it is the same run.
Result<std::optional<RunDetails>> started_before(const Service& service,
                                                 const StartRequest& request) {
  const auto there = service.show(*request.id);
  if (!there && there.error().code == ErrorCode::not_found) return std::optional<RunDetails>();
  if (!there) return there.error();
  PAWL_TRY(const bool same, service.is_start_of(request));
  if (same) return std::optional(*there);
  return Error{ErrorCode::conflict, "there is a run " + request.id->text +
                                        " already, with another charter or input; give this one "
                                        "an id of its own"};
}

int go_on_with(const CliContext& context, Workspace& workspace, const RunDetails& there) {
  if (is_over(there)) return show_end(context, workspace, there);
  if (there.driven) return attach_to(context, workspace, there.summary.id);
  return take_up_here(context, workspace, there);
}

}  // namespace

Preparation prepare_start(const CliContext& context, const std::string& path, const RunId& id,
                          const std::string& input) {
  AgentReading reading = read_trusted_agent(context, path);
  if (!reading.agent) return {std::nullopt, std::move(reading.faults)};
  for (const std::string& note : reading.notes) log(context, LogLevel::warn, note);
  auto invocation =
      invocation_of(context.arguments, reading.agent->charter.limits,
                    targets_of(*reading.agent).front().prices.currency, context.environment.user());
  if (!invocation) return {std::nullopt, {"pawl: " + invocation.error().message}};
  auto attachments = attachments_of(context);
  if (!attachments) return {std::nullopt, {"pawl: " + attachments.error().message}};
  StartRequest request;
  request.attachments = *std::move(attachments);
  request.agent = *std::move(reading.agent);
  request.input = input;
  request.id = id;
  request.context = *std::move(invocation);
  request.sign = signer_for(context);
  return {std::move(request), {}};
}

std::string listed(const std::vector<std::string>& faults) {
  std::string text;
  for (const std::string& fault : faults) text += safe_text(fault) + "\n";
  return text;
}

namespace {

Preparation prepare(const CliContext& context, const RunId& id, const std::string& input) {
  return prepare_start(context, context.arguments.one_or("CHARTER", ""), id, input);
}

int run_here(const CliContext& context, const RunId& id, const std::string& input) {
  // First this: a charter with faults makes no data directory.
  Preparation prepared = prepare(context, id, input);
  if (!prepared.request) {
    context.console().write(Stream::err, listed(prepared.faults));
    return kExitUsage;
  }
  const Opened opened = open_workspace(context, IfAbsent::make);
  if (!opened.workspace) return opened.exit_code;
  const Status kept = keep_files(context, opened.workspace->service(), *prepared.request);
  if (!kept) return fail(context, kept.error());
  const auto there = started_before(opened.workspace->service(), *prepared.request);
  if (!there) return fail(context, there.error());
  if (*there) return go_on_with(context, *opened.workspace, **there);
  const auto view = make_view(context, *opened.workspace, nullptr);
  DriveSession session(context, *opened.workspace, view.get());
  const int code = session.start(*std::move(prepared.request), {});
  return decide_at_terminal(context, *opened.workspace, id, code);
}

// In the background process: `report` tells the one in the foreground how it went.
int run_behind(const CliContext& context, const RunId& id, const std::string& input,
               const std::function<void(Handover)>& report) {
  Preparation prepared = prepare(context, id, input);
  if (!prepared.request) {
    report({kExitUsage, listed(prepared.faults)});
    return kExitUsage;
  }
  auto workspace = context.environment.open(context.settings, IfAbsent::make);
  if (!workspace) {
    report({kExitError, "pawl: " + workspace.error().message + "\n"});
    return kExitError;
  }
  if (const Status kept = keep_files(context, (*workspace)->service(), *prepared.request); !kept) {
    report({kExitError, "pawl: " + safe_text(kept.error().message) + "\n"});
    return kExitError;
  }
  const auto there = started_before((*workspace)->service(), *prepared.request);
  if (!there) {
    report({exit_code_of(there.error()), "pawl: " + safe_text(there.error().message) + "\n"});
    return kExitError;
  }
  if (*there) {
    report({kExitDone, ""});
    const bool undriven = !is_over(**there) && !(*there)->driven;
    return undriven ? take_up_here(context, **workspace, **there) : kExitDone;
  }
  const auto view = make_view(context, **workspace, nullptr);
  DriveSession session(context, **workspace, view.get());
  return session.start(*std::move(prepared.request), [&report](const Status& accepted) {
    if (accepted) return report({kExitDone, ""});
    report({exit_code_of(accepted.error()), "pawl: " + safe_text(accepted.error().message) + "\n"});
  });
}

int run_detached(const CliContext& context, const RunId& id, const std::string& input) {
  const Handover handover = context.environment.detach(
      context.settings, id.text + ".log", [&](const std::function<void(Handover)>& report) {
        return run_behind(context, id, input, report);
      });
  return report_detached(context, id, handover);
}

bool is_global_option(std::string_view name) {
  const auto& all = global_options();
  return std::any_of(all.begin(), all.end(),
                     [name](const OptionSpec& option) { return option.name == name; });
}

// With a run in place of a charter: the first argument is what it is told.
int command_continue(const CliContext& context) {
  const Arguments& arguments = context.arguments;
  const std::string run = arguments.one_or("continue", "");
  if (arguments.has("last") == arguments.has("continue") || arguments.has("INPUT")) {
    return fail(context, {ErrorCode::invalid_argument,
                          "say pawl run --continue RUN TEXT, or pawl run --last TEXT, without a "
                          "charter: the run has its own"});
  }
  for (const auto& [name, values] : arguments.values) {
    if (name == "continue" || name == "last" || name == "CHARTER" || is_global_option(name))
      continue;
    return fail(context,
                {ErrorCode::invalid_argument,
                 "--" + name + " is for a new run; pawl resume gives an old one more room"});
  }
  const auto text = said_text(context, arguments.one_or("CHARTER", ""));
  if (!text) return fail(context, text.error());
  return continue_run(context, run, *text);
}

int command_run(const CliContext& context) {
  if (context.arguments.has("continue") || context.arguments.has("last")) {
    return command_continue(context);
  }
  const auto given = context.arguments.one("id");
  RunId id;
  if (given) {
    auto parsed = parse_run_id(*given);
    if (!parsed) return fail(context, parsed.error());
    id = *std::move(parsed);
  } else {
    id = make_run_id(context.environment.wall_ms());
  }
  const auto input = input_of(context);
  if (!input) {
    print_stderr(context, input.error().message);
    return kExitUsage;
  }
  if (context.arguments.has("detach")) return run_detached(context, id, *input);
  return run_here(context, id, *input);
}

}  // namespace

CommandEntry run_entry() {
  return {
      .name = "run",
      .summary = "Start a run of a charter and drive it to its end",
      .text =
          "INPUT is the text the agent gets; - reads it from standard input, @FILE from a file. "
          "The limits override those of the charter. Ctrl-C parks the run, a second one cancels "
          "it.",
      .arguments = {{kCharterArgument.name, kCharterArgument.help, Need::required, "continue",
                     "last"},
                    {"INPUT", "Text, - or @FILE.", Need::optional}},
      .options =
          {{"id", '\0', Takes::value, "ID",
            "Give the run this id, and never to another one: keys of calls are made from it. Said "
            "again with the same charter and input it is the same run."},
           {"continue", '\0', Takes::value, "RUN",
            "Say more to this run: pawl run --continue RUN TEXT. It goes on where it was."},
           {"last", '\0', Takes::nothing, "", "Likewise, to the run that was started last."},
           {"detach", 'd', Takes::nothing, "", "Drive it in the background and print its id."},
           {"var", '\0', Takes::values, "K=V",
            "Set a {{variable}} of the instructions. Repeatable."},
           {"tenant", '\0', Takes::value, "NAME", "For whom: whose budget pays. Default: default."},
           {"on-behalf-of", '\0', Takes::value, "NAME",
            "On whose behalf, for tools; kept on resume. Default: the user."},
           {"session", '\0', Takes::value, "ID", "The session it belongs to; likewise."},
           {"trace-parent", '\0', Takes::value, "ID",
            "The trace it belongs to, as a W3C traceparent; likewise."},
           {"steps", '\0', Takes::value, "N", "Limit: steps."},
           {"model-calls", '\0', Takes::value, "N", "Limit: model calls, attempts included."},
           {"tool-calls", '\0', Takes::value, "N", "Limit: tool calls."},
           {"time", '\0', Takes::value, "D", "Limit: time at work, such as 90s, 10m, 1h."},
           {"tokens", '\0', Takes::value, "N", "Limit: tokens."},
           {"bytes-in", '\0', Takes::value, "B", "Limit: bytes of input, such as 64KiB, 10MB."},
           {"bytes-out", '\0', Takes::value, "B", "Limit: bytes the model writes."},
           {"branches", '\0', Takes::value, "N", "Limit: instances spawned."},
           {"cost", '\0', Takes::value, "AMOUNT", "Limit: money, such as 2.00 or '2.00 USD'."},
           {"attach", '\0', Takes::values, "FILE", "Give the model this image or PDF. Repeatable."},
           {"file", '\0', Takes::values, "FILE",
            "Keep a copy that the run's tools can read; the model is told its name. Repeatable."},
           kIdentityOption},
      .run = command_run,
  };
}

}  // namespace pawl
