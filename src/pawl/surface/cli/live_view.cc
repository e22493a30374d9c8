#include "pawl/surface/cli/live_view.h"

#include <fmt/format.h>

#include "pawl/surface/cli/acting_view.h"
#include "pawl/surface/cli/escape.h"

namespace pawl {
namespace {

constexpr std::int64_t kRedrawMs = 250;
constexpr std::int64_t kMsPerSecond = 1000;
constexpr std::int64_t kSecondsPerMinute = 60;
constexpr std::string_view kEraseLine = "\r\x1b[K";
constexpr std::string_view kEraseLineAndUp = "\r\x1b[K\x1b[A";

// Everything that is not yet final is in the last lines of the screen: the line of text that the
// model is writing, if there is one, a line for each instance that acts, and the status. They are
// erased before anything else is written and drawn again after it.
class LiveView final : public RunView {
 public:
  LiveView(const CliContext& context, Workspace& workspace, const RunState* resumed)
      : context_(context),
        service_(workspace.service()),
        loop_(workspace.loop()),
        narrator_(make_narrator(workspace.service(), resumed)),
        began_ms_(loop_.monotonic_ms()) {
    // Not at once: the console is not paced yet, and would wait for a terminal that was stopped.
    timer_ = loop_.after(0, [this] { tick(); });
  }
  ~LiveView() override { erase(); }

  void on_event(const RunEvent& event) override {
    if (const auto* view = std::get_if<std::shared_ptr<const RecordView>>(&event)) {
      on_record(**view);
    } else if (const Preview* preview = std::get_if<Preview>(&event)) {
      on_preview(*preview);
    }
  }

  void note(const std::string& text) override {
    erase();
    context_.console().write(Stream::err, safe_text(text) + "\n");
    draw();
  }

  void finish(const RecordView* last) override {
    timer_.reset();
    finish_preview();
    erase();
    if (last == nullptr) return;
    put({Tone::heading, fmt::format("{}: {}", name(last->status), describe_usage(*last))});
    const std::string output = readable_output(context_, service_, *last).value_or("");
    if (!output.empty() && output != streamed_) {
      print(context_, "\n" + safe_text(output) + (output.ends_with('\n') ? "" : "\n"));
    }
    context_.console().write(Stream::err, describe_end(context_, service_, *last));
  }

 private:
  void on_record(const RecordView& view) {
    erase();
    run_ = view.run;
    status_.step = view.step;
    status_.tokens = total_tokens(view.tally.usage);
    status_.cost = format_money(view.tally.cost_pico, view.currency);
    const auto* reply = std::get_if<ModelReplied>(&view.record.event);
    const bool streamed = reply != nullptr && !streamed_.empty();
    finish_preview();
    if (std::holds_alternative<ModelFailed>(view.record.event) && previewing_ > 0) {
      put({Tone::quiet, "  (that reply failed: what it said is withdrawn)"});
    }
    for (const StoryLine& line : narrator_.tell(view)) {
      const bool shown_already = streamed && line.tone == Tone::plain && is_streamed(line.text);
      if (!shown_already) put(line);
    }
    if (reply == nullptr) previewing_ = 0;
    status_.tools = narrator_.tools_running();
    draw();
  }

  // The lines of a reply that were shown while it came are not shown again.
  bool is_streamed(const std::string& line) const {
    const std::size_t text = line.find_first_not_of(' ');
    return text != std::string::npos &&
           safe_text(streamed_).find(line.substr(text)) != std::string::npos;
  }

  void on_preview(const Preview& preview) {
    if (preview.kind != Preview::Kind::text) return;
    if (preview.offset == 0) streamed_.clear();
    // After a piece that was dropped the rest waits for the record.
    if (preview.offset != streamed_.size()) return;
    erase();
    previewing_ += preview.text.size();
    streamed_ += preview.text;
    line_ += safe_text(preview.text);
    for (std::size_t end = line_.find('\n'); end != std::string::npos; end = line_.find('\n')) {
      put({Tone::plain, "  " + line_.substr(0, end)});
      line_.erase(0, end + 1);
    }
    while (columns_of(line_) + 2 >= columns()) {
      const std::string part(cut_columns(line_, columns() - 3));
      put({Tone::plain, "  " + part});
      line_.erase(0, std::max<std::size_t>(part.size(), 1));
    }
    draw();
  }

  void finish_preview() {
    if (line_.empty()) return;
    erase();
    put({Tone::plain, "  " + std::exchange(line_, {})});
  }

  void put(const StoryLine& line) {
    print(context_, (colored() ? painted(line) : line.text) + "\n");
  }

  void erase() {
    for (; drawn_ > 1; --drawn_) print(context_, kEraseLineAndUp);
    if (drawn_ > 0) print(context_, kEraseLine);
    drawn_ = 0;
  }

  void draw() {
    if (!timer_) return;
    if (!line_.empty()) print(context_, "  " + line_ + "\n");
    drawn_ = line_.empty() ? 1 : 2;
    for (const std::string& acting : acting()) {
      print(context_, acting + "\n");
      ++drawn_;
    }
    status_.elapsed_ms = loop_.monotonic_ms() - began_ms_;
    const std::string line = status_line(status_, columns() - 1);
    print(context_, colored() ? "\x1b[7m" + line + "\x1b[0m" : line);
  }

  void tick() {
    timer_ = loop_.after(kRedrawMs, [this] { tick(); });
    // A terminal that was stopped gets one status when it goes on, not all that it missed.
    if (context_.console().backlog(Stream::out).pending() > 0) return;
    erase();
    draw();
  }

  // Of a run that is driven here.
  std::vector<std::string> acting() const {
    const Run* run = service_.live(run_);
    return run == nullptr ? std::vector<std::string>() : acting_lines(run->state(), columns() - 1);
  }

  bool colored() const { return context_.settings.color != Color::never; }
  std::size_t columns() const { return std::max<std::size_t>(context_.console().columns(), 20); }

  const CliContext& context_;
  Service& service_;
  MainLoop& loop_;
  Narrator narrator_;
  RunId run_;
  LiveStatus status_;
  std::int64_t began_ms_;
  std::unique_ptr<Timer> timer_;
  std::string streamed_;        // of the last reply, as it came
  std::string line_;            // what the model is writing, up to now; safe
  std::size_t previewing_ = 0;  // bytes shown of a reply that is not final
  int drawn_ = 0;               // lines to erase
};

}  // namespace

std::unique_ptr<RunView> make_live_view(const CliContext& context, Workspace& workspace,
                                        const RunState* resumed) {
  return std::make_unique<LiveView>(context, workspace, resumed);
}

std::string status_line(const LiveStatus& status, std::size_t columns) {
  const std::int64_t seconds = status.elapsed_ms / kMsPerSecond;
  std::string line = fmt::format("step {}", status.step);
  if (!status.tools.empty()) line += fmt::format(" · {}", fmt::join(status.tools, ", "));
  line += fmt::format(" · {}:{:02}", seconds / kSecondsPerMinute, seconds % kSecondsPerMinute);
  line += fmt::format(" · {} tokens", status.tokens);
  if (!status.cost.empty()) line += " · " + status.cost;
  return std::string(cut_columns(line, columns));
}

}  // namespace pawl
