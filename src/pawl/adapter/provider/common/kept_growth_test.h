// A conversation that grows message by message while requests are made of it, with everything that
// may happen between two requests: cuts, summaries, other models and providers, other notes,
// requests made again, and memory that was wanted elsewhere.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pawl/adapter/provider/common/all_turns_test.h"
#include "pawl/adapter/provider/common/random_sampling_test.h"
#include "pawl/adapter/provider/exchange/phase_request.h"
#include "pawl/adapter/provider/openai/chat_quirks.h"
#include "pawl/adapter/provider/wires_test.h"

namespace pawl::provider {

// What a driver does for executors, with no bound on what is kept.
using KeptWorks = std::map<std::string, std::unique_ptr<KeptWork>, std::less<>>;

class GrownTranscript final : public Transcript {
 public:
  GrownTranscript(const std::vector<Message>& all, std::size_t length, KeptWorks& works)
      : all_(all), length_(length), works_(works) {}
  std::size_t length() const override { return length_; }
  Result<std::vector<Message>> load(MessageRange range) const override {
    const auto begin = all_.begin() + static_cast<std::ptrdiff_t>(std::min(range.first, length_));
    const std::size_t count = std::min(range.count, length_ - std::min(range.first, length_));
    return std::vector<Message>(begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  std::unique_ptr<KeptWork> take_work(std::string_view name) const override {
    const auto found = works_.find(name);
    return found == works_.end() ? nullptr : std::move(works_.extract(found).mapped());
  }
  void keep_work(std::string_view name, std::unique_ptr<KeptWork> work) const override {
    works_.insert_or_assign(std::string(name), std::move(work));
  }

 private:
  const std::vector<Message>& all_;
  const std::size_t length_;
  KeptWorks& works_;
};

// How often something was tried that a test would prove little without.
struct GrowthCounts {
  std::uint64_t requests = 0;
  std::uint64_t reused = 0;  // began with bytes of an earlier one
  std::uint64_t refused = 0;
  std::uint64_t cuts = 0;
  std::uint64_t failovers = 0;
  std::uint64_t sessions = 0;
};

class KeptGrowth {
 public:
  KeptGrowth(std::uint64_t seed, const std::vector<WireUnderTest>& wires, GrowthCounts& counts)
      : rng_(seed), wires_(wires), counts_(counts), home_(rng_.below(wires.size())) {
    for (const WireUnderTest& wire : wires_) {
      for (int i = 0; i < 2; ++i) options_.push_back(random_options(wire));
    }
    const RandomConversationRules& rules = wires_[home_].rules;
    coming_ = RandomConversation(rng_, rules).messages();
    std::vector<Message> more = RandomConversation(rng_, rules).messages();
    std::move(more.begin(), more.end(), std::back_inserter(coming_));
    for (Message& message : coming_) repeat_the_note(message);
  }

  // Empty: every request was what it should be.
  std::string fault() {
    for (const Message& message : coming_) {
      all_.push_back(message);
      while (rng_.one_in(2)) {
        if (std::string fault = fault_of_request(); !fault.empty()) return fault;
      }
      if (rng_.one_in(25)) cut();
      if (rng_.one_in(25)) works_.clear();  // taken up again, forked, or memory was wanted
    }
    return fault_of_request();
  }

 private:
  WireOptions random_options(const WireUnderTest& wire) {
    WireOptions options;
    options.name = wire.rules.own;
    options.base_url = "https://api.example.com";
    options.model = random_model(rng_, wire.models);
    if (rng_.one_in(8)) options.model.images = ExecutorModelDescriptor::Support::no;
    if (wire.sessions == WireUnderTest::Sessions::kept && rng_.one_in(3)) {
      options.resume = WireOptions::Resume::session;
    }
    if (wire.servers == WireUnderTest::Servers::many) {
      options.quirks = {std::string(rng_.pick(known_chat_servers())), "documents"};
      if (rng_.one_in(3)) options.quirks.emplace_back("short_call_ids");
    }
    return options;
  }

  void repeat_the_note(Message& message) {
    if (message.role != Role::user || !rng_.one_in(4)) return;
    message.text = Content(std::string(kNote));
  }

  void cut() {
    ++counts_.cuts;
    const std::size_t from = rng_.one_in(2) ? 0 : rng_.below(all_.size());
    const std::size_t count = 1 + rng_.below(all_.size() - from);
    const auto begin = all_.begin() + static_cast<std::ptrdiff_t>(from);
    const auto behind = all_.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
    if (rng_.one_in(2)) {
      Message summary;
      summary.text = Content(std::string("[Note by Pawl] > a summary"));
      all_.insert(behind, std::move(summary));
    }
    works_.clear();
  }

  PhaseExecutionRequest request() {
    PhaseExecutionRequest request;
    request.run = RunId{"run-1"};
    if (!rng_.one_in(4)) request.system_prompt = "Be brief.";
    if (rng_.one_in(3)) request.note = rng_.one_in(2) ? kNote : "Two steps are left.";
    if (!rng_.one_in(3)) request.tools.emplace_back().name = "look";
    randomize(rng_, request);
    request.transcript = std::make_shared<GrownTranscript>(all_, all_.size(), works_);
    return request;
  }

  std::string fault_of_request() {
    std::size_t wire_at = home_;
    if (rng_.one_in(8)) {
      ++counts_.failovers;
      wire_at = rng_.below(wires_.size());
    }
    const WireUnderTest& wire = wires_[wire_at];
    const WireOptions& options = options_[2 * wire_at + (rng_.one_in(6) ? 1 : 0)];
    PhaseExecutionRequest asked = request();
    if (options.resume == WireOptions::Resume::session && !rng_.one_in(4)) {
      ++counts_.sessions;
      asked.session = "resp_0123";
      asked.session_length = rng_.one_in(3) ? rng_.below(all_.size() + 1)
                                            : all_.size() - std::min(all_.size(), rng_.below(4));
    }
    ++counts_.requests;
    const auto kept = kept_request(wire, asked, options);
    const auto whole = wire.dialect->encode(asked, all_, options);
    if (kept.has_value() != whole.has_value()) return "one of two is refused";
    if (!whole) {
      ++counts_.refused;
      return kept.error().message == whole.error().message ? "" : kept.error().message;
    }
    note_reuse(kept->body);
    const std::string body = kept->body.whole();
    if (body != whole->body.whole()) {
      return wire.rules.own + ":\n" + body + "\nis not\n" + whole->body.whole();
    }
    return fault_of_turns(*wire.dialect, asked, options, body);
  }

  Result<WireRequest> kept_request(const WireUnderTest& wire, const PhaseExecutionRequest& asked,
                                   const WireOptions& options) {
    PhaseRequest writing(*wire.dialect, asked, options);
    for (;;) {
      PAWL_TRY(const auto progress, writing.go_on(asked));
      if (progress == PhaseRequest::Progress::whole) return writing.finish(asked);
    }
  }

  void note_reuse(const HttpBody& body) {
    const std::string* const bytes =
        body.chunks().size() > 1 ? body.chunks()[1].bytes.get() : nullptr;
    if (bytes != nullptr && bytes == last_chunk_.get()) ++counts_.reused;
    if (bytes != nullptr) last_chunk_ = body.chunks()[1].bytes;
  }

  // The simplest way to write a conversation: all turns, one after the other.
  std::string fault_of_turns(const Dialect& dialect, const PhaseExecutionRequest& asked,
                             const WireOptions& options, const std::string& body) {
    const auto style = dialect.turn_style(options).value();
    std::vector<Turn> turns;
    const auto composed = conversation_of(asked, all_, options);
    for (const Turn& turn : *composed) {
      if (turn.role == Role::assistant && !style->counts(turn)) continue;
      join_turns(turns, {turn});
    }
    const bool marks = options.name == anthropic_rules().own;
    std::size_t user_turns = 0;
    for (const Turn& turn : turns) user_turns += turn.role == Role::user ? 1 : 0;
    TurnState state;
    std::string list;
    for (Turn& turn : turns) {
      const bool last = &turn == &turns.back();
      style->fit(turn, last ? TurnStyle::Place::last : TurnStyle::Place::inside);
      const bool marked = marks && turn.role == Role::user && user_turns-- <= 2;
      const TurnState before = state;
      std::string text = elements(*style, turn, state);
      if (marked) text.insert(mark_in(*style, turn, before, asked.note), kMark);
      if (!list.empty() && !text.empty()) list += ',';
      list += text;
      if (marks && asked.tools.empty() && !declares_calls(body, turn)) return body + "\nno tools";
    }
    return body.find(list) != body.npos ? "" : body + "\nhas not the turns\n" + list;
  }

  static std::string elements(const TurnStyle& style, const Turn& turn, TurnState& state) {
    JsonWriter json;
    json.begin_array();
    if (!style.write(json, turn, state)) return "not refused";
    const std::string list = json.end_array().take();
    return list.substr(1, list.size() - 2);
  }

  // A conversation with calls needs the tools that only its past knows.
  static bool declares_calls(const std::string& body, const Turn& turn) {
    return std::all_of(turn.parts.begin(), turn.parts.end(), [&](const Part& part) {
      const auto* call = std::get_if<CallPart>(&part);
      const auto declared = [&] { return R"({"name":")" + call->tool + R"(","input_schema")"; };
      return call == nullptr || body.find(declared()) != body.npos;
    });
  }

  // At the end of the last part that is no note: as if the turn ended there.
  static std::size_t mark_in(const TurnStyle& style, Turn turn, TurnState state,
                             const std::string& note) {
    const auto* text = std::get_if<TextPart>(&turn.parts.back());
    const bool noted = text != nullptr && !note.empty() && text->text == note;
    if (noted && turn.parts.size() > 1) turn.parts.pop_back();
    return elements(style, turn, state).size() - std::string_view("}]}").size();
  }

  static constexpr std::string_view kMark = R"(,"cache_control":{"type":"ephemeral"})";
  static constexpr const char* kNote = "One step is left.";

  Rng rng_;
  const std::vector<WireUnderTest>& wires_;
  GrowthCounts& counts_;
  const std::size_t home_;
  std::vector<WireOptions> options_;  // two a wire
  std::vector<Message> coming_;
  std::vector<Message> all_;
  KeptWorks works_;
  std::shared_ptr<const std::string> last_chunk_;
};

}  // namespace pawl::provider
