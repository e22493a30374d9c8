#include "pawl/surface/cli/view.h"

#include <fmt/format.h>

#include "pawl/journal/event_json.h"
#include "pawl/surface/cli/escape.h"
#include "pawl/surface/cli/live_view.h"

namespace pawl {
namespace {

bool ends_or_waits(const RecordView& view) {
  return std::holds_alternative<RunFinished>(view.record.event) ||
         std::holds_alternative<RunWaiting>(view.record.event);
}

class JsonView final : public RunView {
 public:
  JsonView(const CliContext& context, Service& service) : context_(context), service_(service) {}

  void on_event(const RunEvent& event) override {
    const auto* view = std::get_if<std::shared_ptr<const RecordView>>(&event);
    if (view == nullptr) return;  // Previews have no seq, and every line has one.
    FinalFields fields;
    const bool final = ends_or_waits(**view);
    if (final) fields.output = readable_output(context_, service_, **view);
    print(context_, event_json(**view, final ? &fields : nullptr) + "\n");
  }
  void note(const std::string& text) override {
    context_.console().write(Stream::err, safe_text(text) + "\n");
  }
  void finish(const RecordView* last) override {
    if (last == nullptr) return;
    context_.console().write(Stream::err, describe_end(context_, service_, *last));
  }

 private:
  const CliContext& context_;
  Service& service_;
};

class PlainView final : public RunView {
 public:
  PlainView(const CliContext& context, Service& service, const RunState* resumed)
      : context_(context), service_(service), narrator_(make_narrator(service, resumed)) {}

  void on_event(const RunEvent& event) override {
    const auto* view = std::get_if<std::shared_ptr<const RecordView>>(&event);
    if (view == nullptr) return;
    std::string text;
    for (const StoryLine& line : narrator_.tell(**view)) text += told(line) + "\n";
    if (!text.empty()) print(context_, text);
  }
  void note(const std::string& text) override {
    context_.console().write(Stream::err, safe_text(text) + "\n");
  }
  void finish(const RecordView* last) override {
    if (last == nullptr) return;
    const StoryLine end{Tone::heading,
                        fmt::format("{}: {}", name(last->status), describe_usage(*last))};
    print(context_, told(end) + "\n");
    const std::string output = readable_output(context_, service_, *last).value_or("");
    if (!output.empty()) {
      print(context_, "\n" + safe_text(output) + (output.ends_with('\n') ? "" : "\n"));
    }
    context_.console().write(Stream::err, describe_end(context_, service_, *last));
  }

 private:
  std::string told(const StoryLine& line) const {
    return context_.settings.color == Color::always ? painted(line) : line.text;
  }

  const CliContext& context_;
  Service& service_;
  Narrator narrator_;
};

}  // namespace

std::unique_ptr<RunView> make_view(const CliContext& context, Workspace& workspace,
                                   const RunState* resumed) {
  Service& service = workspace.service();
  if (context.format() == Format::json) return std::make_unique<JsonView>(context, service);
  if (context.console().is_terminal(Stream::out)) {
    return make_live_view(context, workspace, resumed);
  }
  return std::make_unique<PlainView>(context, service, resumed);
}

Narrator make_narrator(Service& service, const RunState* resumed, Narrator::Turns turns) {
  Narrator narrator(
      [&service](const RunId& run, const Content& content) {
        const auto bytes = service.text_of(run, content);
        return bytes ? *bytes : "(" + bytes.error().message + ")";
      },
      turns);
  if (resumed != nullptr) {
    for (const Call& call : resumed->calls) narrator.know_call(call.id, call.tool);
  }
  return narrator;
}

std::optional<std::string> readable_output(const CliContext& context, const Service& service,
                                           const RecordView& view) {
  auto output = service.output_of(view);
  if (output) return *std::move(output);
  context.console().write(Stream::err, "pawl: the output of run " + view.run.text +
                                           " cannot be read: " + safe_text(output.error().message) +
                                           "\n");
  return std::nullopt;
}

std::string describe_usage(const RecordView& view) {
  constexpr double kMsPerSecond = 1000.0;
  const Tally& tally = view.tally;
  return fmt::format("{} step{}, {} tool call{}, {} tokens, {}, {:.1f} s", tally.steps,
                     tally.steps == 1 ? "" : "s", tally.tool_calls,
                     tally.tool_calls == 1 ? "" : "s", total_tokens(tally.usage),
                     format_money(tally.cost_pico, view.currency),
                     static_cast<double>(tally.active_ms) / kMsPerSecond);
}

std::string describe_end(const CliContext& context, Service& service, const RecordView& last) {
  if (last.status == RunStatus::done && last.calls_in_doubt.empty()) return "";
  const auto explained = service.explain(last.run);
  if (!explained) return "pawl: " + safe_text(explained.error().message) + "\n";
  return with_data_flag(context, safe_text(*explained));
}

}  // namespace pawl
