#include "pawl/testing/fake_provider/plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pawl/testing/fake_provider/dialects/render.h"
#include "pawl/testing/fake_provider/gzip_bomb.h"

namespace pawl::fake {
namespace {

constexpr std::size_t kBlockBytes = 16U << 10U;  // of filler, in one piece
constexpr std::uint64_t kPingEveryMs = 1'000;
constexpr std::uint64_t kTrickleEveryMs = 1'000;
constexpr std::uint64_t kGiantBytes = 512ULL << 20U;
constexpr std::uint64_t kBombBytes = 10ULL << 30U;
constexpr std::uint64_t kHeaderBytes = 1U << 20U;
constexpr std::uint64_t kContinues = 100'000;
// An overlong form, a lone continuation, half a character and a surrogate.
constexpr std::string_view kNotUtf8 = "\xC0\xAF\x80\xE2\x82\xED\xA0\x80";

std::uint64_t or_else(std::uint64_t value, std::uint64_t otherwise) {
  return value != 0 ? value : otherwise;
}

// Behind the opening quote of the text of an event or a body; npos when it has none.
std::size_t text_place(const std::string& bytes) {
  for (const std::string_view key :
       {R"("text":")", R"("partial_json":")", R"("thinking":")", R"("delta":")", R"("content":")",
        R"("arguments":")", R"("message":")"}) {
    const std::size_t at = bytes.find(key);
    if (at != std::string::npos) return at + key.size();
  }
  return std::string::npos;
}

class Planner {
 public:
  Planner(Rendered rendered, const FakeReply& reply, const ModelRequest& request)
      : rendered_(std::move(rendered)), reply_(reply), request_(request) {}

  WirePlan plan();

 private:
  using Effect = void (Planner::*)();

  std::size_t frame_index(FaultPlace place, std::uint64_t n) const;
  std::size_t fault_index() const;
  std::string framed(const std::string& bytes) const;
  void lay_out(std::size_t from, std::size_t to);
  void add_head();
  void add_end();
  void change_frames();
  bool cuts() const;
  void cut();
  void cut_after_bytes(std::uint64_t n);
  void send_changed();
  void add_giant();
  void add_bomb();
  void step_body(std::uint64_t delay_ms);
  void split_body();
  void add_huge_header();

  Rendered rendered_;
  const FakeReply& reply_;
  const ModelRequest& request_;
  const FaultSpec* fault_ = nullptr;
  WirePlan out_;
};

std::size_t Planner::frame_index(FaultPlace place, std::uint64_t n) const {
  const std::vector<Frame>& frames = rendered_.frames;
  std::uint64_t deltas = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].kind == FrameKind::closing) return i;
    if (place != FaultPlace::after_deltas) continue;
    if (n == 0 && frames[i].kind == FrameKind::delta) return i;
    if (frames[i].kind == FrameKind::delta && ++deltas == n) return i + 1;
  }
  return frames.size();
}

// Where a fault strikes that does not say so itself.
std::size_t Planner::fault_index() const {
  if (fault_->place == FaultPlace::after_deltas || fault_->place == FaultPlace::before_end) {
    return frame_index(fault_->place, fault_->n);
  }
  switch (fault_->kind) {
    case FaultKind::close:
    case FaultKind::truncated:
      return frame_index(FaultPlace::before_end, 0);
    case FaultKind::stall:
    case FaultKind::pings:
    case FaultKind::splice:
    case FaultKind::giant_body:
      return frame_index(FaultPlace::after_deltas, 1);
    case FaultKind::error_event:
      return frame_index(FaultPlace::after_deltas, 3);
    default:
      return 0;
  }
}

std::string Planner::framed(const std::string& bytes) const {
  return rendered_.framing == Framing::chunked ? chunk(bytes) : bytes;
}

void Planner::add_head() {
  out_.pieces.push_back({http_head(rendered_), reply_.delay_ms});
}

void Planner::lay_out(std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    const Frame& frame = rendered_.frames[i];
    const bool waits = frame.kind == FrameKind::delta;
    out_.pieces.push_back({framed(frame.bytes), waits ? reply_.delta_delay_ms : 0});
  }
}

void Planner::add_end() {
  if (rendered_.framing == Framing::chunked) out_.pieces.push_back({std::string(kLastChunk)});
}

// Faults that are events too many, too few or out of place.
void Planner::change_frames() {
  std::vector<Frame>& frames = rendered_.frames;
  const std::size_t at = std::min(fault_index(), frames.empty() ? 0 : frames.size() - 1);
  const auto place = frames.begin() + static_cast<std::ptrdiff_t>(at);
  if (fault_->kind == FaultKind::duplicate) {
    frames.insert(place, Frame(*place));
  } else if (fault_->kind == FaultKind::splice) {
    std::vector<Frame> opening;
    std::copy_if(frames.begin(), frames.end(), std::back_inserter(opening),
                 [](const Frame& frame) { return frame.kind == FrameKind::opening; });
    frames.insert(place, opening.begin(), opening.end());
  } else if (fault_->kind == FaultKind::reorder) {
    std::stable_partition(frames.begin(), frames.end(),
                          [](const Frame& frame) { return frame.kind == FrameKind::closing; });
  } else if (fault_->kind == FaultKind::error_event) {
    FakeError error;
    error.status = status_of(*fault_);
    error.type = fault_->type;
    error.message = fault_->message.empty() ? "Overloaded" : fault_->message;
    frames.erase(place, frames.end());
    frames.push_back(render_error_event(request_, error, frames.size()));
  } else if (fault_->kind == FaultKind::truncated) {
    const std::size_t last = at > 0 ? at - 1 : 0;
    frames.resize(last + 1);
    frames[last].bytes.resize(frames[last].bytes.size() / 2);
  } else if (fault_->kind == FaultKind::bad_utf8) {
    for (Frame& frame : frames) {
      const std::size_t text = text_place(frame.bytes);
      if (frame.kind == FrameKind::opening || text == std::string::npos) continue;
      frame.bytes.insert(text, kNotUtf8);
      break;
    }
  }
}

bool Planner::cuts() const {
  switch (fault_->kind) {
    case FaultKind::silence:
    case FaultKind::stall:
    case FaultKind::pings:
    case FaultKind::close:
    case FaultKind::reset:
      return true;
    default:
      return false;
  }
}

void Planner::cut_after_bytes(std::uint64_t n) {
  add_head();
  const std::size_t body_from = out_.pieces.size();
  lay_out(0, rendered_.frames.size());
  add_end();
  std::uint64_t left = n;
  for (std::size_t i = body_from; i < out_.pieces.size(); ++i) {
    std::string& bytes = out_.pieces[i].bytes;
    if (left < bytes.size()) bytes.resize(left);
    left -= bytes.size();
  }
}

// The reply up to the place, and then nothing that belongs to it.
void Planner::cut() {
  const bool silent = fault_->kind == FaultKind::silence && fault_->place == FaultPlace::usual;
  if (fault_->place == FaultPlace::in_head) {
    const std::string head = http_head(rendered_);
    out_.pieces.push_back({head.substr(0, head.size() / 2), reply_.delay_ms});
  } else if (fault_->place == FaultPlace::after_bytes) {
    cut_after_bytes(fault_->n);
  } else if (!silent && fault_->place != FaultPlace::before_head) {
    add_head();
    lay_out(0, fault_index());
  }
  if (fault_->kind == FaultKind::close || fault_->kind == FaultKind::reset) {
    out_.end = fault_->kind == FaultKind::close ? WireEnd::close : WireEnd::reset;
    return;
  }
  out_.end = WireEnd::hold;
  if (fault_->kind != FaultKind::pings) return;
  const bool named = request_.route.api == Api::anthropic_messages && fault_->type == "event";
  const std::string ping = named ? "event: ping\ndata: {\"type\": \"ping\"}\n\n" : ": ping\n\n";
  out_.pieces.push_back({framed(ping), or_else(fault_->every_ms, kPingEveryMs), kForEver});
}

// One event of so many bytes, or so many bytes of events.
void Planner::add_giant() {
  rendered_.framing = Framing::chunked;
  const std::size_t at = std::min(fault_index(), rendered_.frames.size() - 1);
  const std::uint64_t blocks = or_else(fault_->bytes, kGiantBytes) / kBlockBytes + 1;
  std::string event = rendered_.frames[at].bytes;
  for (const Frame& frame : rendered_.frames) {
    if (frame.kind != FrameKind::delta) continue;
    event = frame.bytes;
    break;
  }
  const std::size_t text = std::min(text_place(event), event.size());
  const std::string filler(kBlockBytes, 'a');
  add_head();
  lay_out(0, at);
  if (fault_->kind == FaultKind::giant_body) {
    out_.pieces.push_back({framed(event.insert(text, filler)), 0, blocks});
  } else {
    out_.pieces.push_back({framed(event.substr(0, text))});
    out_.pieces.push_back({framed(filler), 0, blocks});
    out_.pieces.push_back({framed(event.substr(text))});
  }
  lay_out(at, rendered_.frames.size());
  add_end();
}

void Planner::add_bomb() {
  rendered_.framing = Framing::chunked;
  rendered_.headers.push_back({"content-encoding", "gzip"});
  add_head();
  out_.pieces.push_back({framed(gzip_bomb_opening())});
  const std::uint64_t zeros = or_else(fault_->bytes, kBombBytes) / kBombRatio;
  out_.pieces.push_back({framed(std::string(kBlockBytes, '\0')), 0, zeros / kBlockBytes + 1});
  add_end();
}

void Planner::step_body(std::uint64_t delay_ms) {
  add_head();
  lay_out(0, rendered_.frames.size());
  add_end();
  for (std::size_t i = 1; i < out_.pieces.size(); ++i) {
    out_.pieces[i].step_bytes = 1;
    out_.pieces[i].delay_ms = delay_ms;
  }
}

void Planner::split_body() {
  const std::string body = rendered_.body();
  if (rendered_.framing == Framing::length || body.size() > kSplitBytesMax) return step_body(0);
  add_head();
  std::string chunks;
  for (const char byte : body) chunks += chunk({&byte, 1});
  const std::size_t step = chunk("x").size();
  out_.pieces.push_back({std::move(chunks), 0, 1, step});
  add_end();
}

void Planner::add_huge_header() {
  const std::string head = http_head(rendered_);
  const std::size_t line = head.find("\r\n") + 2;
  const std::uint64_t blocks = or_else(fault_->bytes, kHeaderBytes) / kBlockBytes + 1;
  out_.pieces.push_back({head.substr(0, line) + "x-padding: ", reply_.delay_ms});
  out_.pieces.push_back({std::string(kBlockBytes, 'a'), 0, blocks});
  out_.pieces.push_back({"\r\n" + head.substr(line)});
  lay_out(0, rendered_.frames.size());
  add_end();
}

void Planner::send_changed() {
  switch (fault_->kind) {
    case FaultKind::giant_line:
    case FaultKind::giant_body:
      return add_giant();
    case FaultKind::gzip_bomb:
      return add_bomb();
    case FaultKind::split:
      return split_body();
    case FaultKind::trickle:
      return step_body(or_else(fault_->every_ms, kTrickleEveryMs));
    case FaultKind::huge_header:
      return add_huge_header();
    case FaultKind::length_and_chunked:
      rendered_.framing = Framing::chunked;
      rendered_.headers.push_back({"content-length", "5"});
      break;
    case FaultKind::continue_flood:
      out_.pieces.push_back(
          {"HTTP/1.1 100 Continue\r\n\r\n", 0, or_else(fault_->count, kContinues)});
      break;
    case FaultKind::bad_chunk:
      rendered_.framing = Framing::chunked;
      add_head();
      out_.pieces.push_back({"FFFFFFFFFFFFFFFF\r\n" + rendered_.body()});
      out_.end = WireEnd::close;
      return;
    default:
      change_frames();
  }
  add_head();
  lay_out(0, rendered_.frames.size());
  add_end();
}

WirePlan Planner::plan() {
  fault_ = reply_.fault ? &*reply_.fault : nullptr;
  if (fault_ != nullptr && cuts()) {
    cut();
  } else if (fault_ != nullptr && !rendered_.frames.empty()) {
    send_changed();
  } else {
    add_head();
    lay_out(0, rendered_.frames.size());
    add_end();
  }
  return std::move(out_);
}

}  // namespace

WirePlan plan_reply(const Rendered& rendered, const FakeReply& reply, const ModelRequest& request) {
  return Planner(rendered, reply, request).plan();
}

WirePlan plan_plainly(const Rendered& rendered) {
  return Planner(rendered, FakeReply{}, ModelRequest{}).plan();
}

}  // namespace pawl::fake
