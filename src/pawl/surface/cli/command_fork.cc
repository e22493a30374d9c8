// fork: starts a run from a recorded prefix of another.
#include <fmt/format.h>

#include "pawl/base/utf8.h"
#include "pawl/json.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/drive.h"
#include "pawl/surface/cli/escape.h"
#include "pawl/surface/cli/room_options.h"
#include "pawl/surface/cli/signing.h"

namespace pawl {
namespace {

// {"input": "…", "c3": "…"}: every member is an edit.
Status add_edits_of_file(const CliContext& context, const std::string& path,
                         std::vector<ForkEdit>& edits) {
  PAWL_TRY(const std::string text, context.environment.read_text(path));
  const auto json = parse_json(text);
  const JsonObject* object = json ? json->if_object() : nullptr;
  if (object == nullptr) {
    return Error{ErrorCode::invalid_argument,
                 path + ": a file of edits is one JSON object, TARGET: TEXT" +
                     (json ? "" : " (" + json.error().message + ")")};
  }
  for (const JsonMember& member : object->members()) {
    if (!member.value.is_string()) {
      return Error{ErrorCode::invalid_argument,
                   path + ": the text for '" + member.key + "' is not a string"};
    }
    edits.push_back({member.key, member.value.string()});
  }
  return ok();
}

Status add_edit(const CliContext& context, const std::string& word, std::vector<ForkEdit>& edits) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) return add_edits_of_file(context, word, edits);
  ForkEdit edit{word.substr(0, equals), word.substr(equals + 1)};
  if (edit.text.starts_with('@')) {
    PAWL_TRY(edit.text, context.environment.read_text(edit.text.substr(1)));
  }
  if (!is_valid_utf8(edit.text)) {
    return Error{ErrorCode::invalid_argument,
                 "the text for '" + edit.target + "' is not UTF-8; convert it, e.g. with iconv"};
  }
  edits.push_back(std::move(edit));
  return ok();
}

// "3", or "i2:3" for the third step of i2.
Status read_step(const std::string& at, ForkRequest& request) {
  const std::size_t colon = at.find(':');
  if (at == "0") return ok();
  if (colon != std::string::npos) {
    PAWL_TRY(request.instance, parse_instance_id(at.substr(0, colon)));
  }
  PAWL_TRY(request.step, parse_count("at", colon == std::string::npos ? at : at.substr(colon + 1)));
  return ok();
}

// All but the parent, which only an open store knows.
Result<ForkRequest> request_of(const CliContext& context) {
  const Arguments& arguments = context.arguments;
  ForkRequest request;
  const auto at = arguments.one("at");
  if (!at) {
    return Error{ErrorCode::invalid_argument,
                 "fork needs --at STEP: the last step that the fork shares; 0 is the input alone"};
  }
  PAWL_CHECK(read_step(*at, request));
  for (const std::string& word : arguments.many("edit")) {
    PAWL_CHECK(add_edit(context, word, request.edits));
  }
  request.model = arguments.one_or("model", "");
  request.by = context.environment.user();
  request.sign = signer_for(context);
  if (const auto id = arguments.one("id")) {
    PAWL_TRY(request.id, parse_run_id(*id));
  } else {
    request.id = make_run_id(context.environment.wall_ms());
  }
  return request;
}

std::string told(const Forked& forked) {
  const Tally& tally = forked.inherited;
  std::string text = fmt::format(
      "run {} is forked from {} after step {}{}: {} records, nothing of them was called again; {} "
      "tool calls and {} tokens are inherited",
      forked.run.text, forked.from.run.text, forked.step,
      forked.instance ? " of " + to_string(*forked.instance) : "", forked.from.seq + 1,
      tally.tool_calls, total_tokens(tally.usage));
  if (!forked.from.edited.empty()) {
    text += fmt::format("; edited: {}", fmt::join(forked.from.edited, ", "));
  }
  return text;
}

// The parent, and what it had that the fork is to have more of.
Status name_parent(const CliContext& context, Service& service, ForkRequest& request) {
  PAWL_TRY(request.parent, named_run(context, service));
  if (!asks_for_room(context.arguments)) return ok();
  PAWL_TRY(const RunDetails details, service.show(request.parent));
  PAWL_TRY(const Room room, room_of(context.arguments, details.state));
  request.limits = room.limits;
  request.guards = room.guards;
  return ok();
}

using Report = std::function<void(Handover)>;

int drive_fork(const CliContext& context, Workspace& workspace, ForkRequest request,
               const Report& report) {
  const auto view = make_view(context, workspace, nullptr);
  DriveSession session(context, workspace, view.get());
  return session.fork(std::move(request), [&](const Result<Forked>& forked) {
    if (forked) {
      context.environment.share_files(context.settings, forked->from.run.text, forked->run.text);
      view->note(told(*forked));
    }
    if (!report) return;
    if (forked) return report({kExitDone, ""});
    report({exit_code_of(forked.error()), "pawl: " + safe_text(forked.error().message) + "\n"});
  });
}

int fork_here(const CliContext& context, ForkRequest request) {
  const Opened opened = open_workspace(context, IfAbsent::refuse);
  if (!opened.workspace) return opened.exit_code;
  const Status named = name_parent(context, opened.workspace->service(), request);
  if (!named) return fail(context, named.error());
  return drive_fork(context, *opened.workspace, std::move(request), {});
}

// In the background process: `report` tells the one in the foreground how it went.
int fork_behind(const CliContext& context, ForkRequest request, const Report& report) {
  const auto refuse = [&report](const Error& error) {
    report({exit_code_of(error), "pawl: " + safe_text(error.message) + "\n"});
    return exit_code_of(error);
  };
  auto workspace = context.environment.open(context.settings, IfAbsent::refuse);
  if (!workspace) return refuse(workspace.error());
  const Status named = name_parent(context, (*workspace)->service(), request);
  if (!named) return refuse(named.error());
  return drive_fork(context, **workspace, std::move(request), report);
}

int fork_detached(const CliContext& context, const ForkRequest& request) {
  const std::string id = request.id->text;
  const Handover handover = context.environment.detach(
      context.settings, id + ".log",
      [&](const Report& report) { return fork_behind(context, request, report); });
  return report_detached(context, *request.id, handover);
}

int command_fork(const CliContext& context) {
  auto request = request_of(context);
  if (!request) {
    print_stderr(context, request.error().message);
    return kExitUsage;
  }
  if (context.arguments.has("detach")) return fork_detached(context, *request);
  return fork_here(context, *std::move(request));
}

}  // namespace

CommandEntry fork_entry() {
  return {
      .name = "fork",
      .summary = "Start a run from a recorded prefix of another",
      .text =
          "The prefix is taken over as it was recorded: no model and no tool is called for it. "
          "After it the fork goes on by itself, with keys of its own. What the prefix used counts "
          "against the fork's limits.",
      .arguments = {kRunArgument},
      .options = with_room_options(
          {{"at", '\0', Takes::value, "STEP",
            "The last step of the prefix; 0: the input alone; i2:3: the third of i2."},
           {"edit", '\0', Takes::values, "TARGET=TEXT",
            "Change the prefix: input, history1, message1, step2.text or c3 (a call's "
            "result). @FILE reads the text from a file; a FILE alone is a JSON object of "
            "edits. Repeatable."},
           {"model", '\0', Takes::value, "REF", "Go on with this model."},
           {"id", '\0', Takes::value, "ID", "Give the fork this id instead of a new one."},
           {"detach", 'd', Takes::nothing, "", "Drive it in the background and print its id."},
           kIdentityOption}),
      .run = command_fork,
  };
}

}  // namespace pawl
