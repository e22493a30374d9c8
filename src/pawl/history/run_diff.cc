#include "pawl/history/run_diff.h"

#include <algorithm>

#include "pawl/base/json_diff.h"
#include "pawl/history/diff_items.h"
#include "pawl/journal/run_loader.h"

namespace pawl {
namespace {

std::string json_text(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string excerpt(const std::string& text, std::size_t around) {
  if (text.size() <= kExcerptBytesMax) return json_text(text);
  const std::size_t from = around > kExcerptBytesBefore ? around - kExcerptBytesBefore : 0;
  const std::string piece = text.substr(from, kExcerptBytesMax);
  return json_text((from > 0 ? "…" : "") + piece + (from + piece.size() < text.size() ? "…" : ""));
}

class RunComparison {
 public:
  RunComparison(JournalReader& reader, const RunId& a, const RunId& b, DiffScope scope)
      : reader_(reader), a_(reader, a, scope), b_(reader, b, scope) {
    diff_.a.run = a;
    diff_.b.run = b;
  }

  Result<RunDiff> go() {
    PAWL_TRY(diff_.a, outline(diff_.a.run, output_a_));
    PAWL_TRY(diff_.b, outline(diff_.b.run, output_b_));
    if (output_a_ != output_b_) diff_.outputs = RunDiff::Outputs::differ;
    for (std::uint64_t group = 0;; ++group) {
      PAWL_TRY(const bool more_a, a_.more());
      PAWL_TRY(const bool more_b, b_.more());
      if (!more_a && !more_b) break;
      if (full()) {
        diff_.rest = RunDiff::Rest::not_compared;
        break;
      }
      PAWL_CHECK(compare_group(group));
    }
    settle_beyond();
    return std::move(diff_);
  }

 private:
  bool full() const { return diff_.differences.size() >= kDifferencesMax; }

  Result<RunOutline> outline(const RunId& run, std::string& output) {
    PAWL_TRY(const LoadedRun loaded, load_run(reader_, run, UseSnapshot::yes));
    const RunState& state = loaded.run.state();
    PAWL_TRY(output, output_text(reader_, state));
    RunOutline outline{run, status_of(state), "", state.length, state.prices.currency, state.tally};
    if (outline.status == RunStatus::waiting) outline.reason = name(waits_for(state));
    if (std::holds_alternative<Ending>(state.course)) outline.reason = name(stop_reason_of(state));
    return outline;
  }

  Status compare_group(std::uint64_t group) {
    PAWL_TRY(const std::vector<DiffItem> a, a_.take_group(group));
    PAWL_TRY(std::vector<DiffItem> b, b_.take_group(group));
    PAWL_TRY(const bool a_goes_on, a_.more());
    PAWL_TRY(const bool b_goes_on, b_.more());
    for (const DiffItem& item : a) {
      const auto other = std::find_if(b.begin(), b.end(),
                                      [&item](const DiffItem& one) { return one.key == item.key; });
      if (other == b.end()) {
        one_sided(item, Side::a, b_goes_on);
        continue;
      }
      compare(item, *other);
      b.erase(other);
    }
    for (const DiffItem& item : b) one_sided(item, Side::b, a_goes_on);
    return ok();
  }

  enum class Side : std::uint8_t { a, b };

  // What only one run has is a difference, unless the other has simply not come so far.
  void one_sided(const DiffItem& item, Side side, bool other_goes_on) {
    if (full()) return;
    RunDifference difference = about(item);
    difference.path = "$";
    (side == Side::a ? difference.seq_a : difference.seq_b) = item.seq;
    (side == Side::a ? difference.a : difference.b) = write_json(item.event);
    const bool beyond = !other_goes_on && diff_.differences.empty();
    std::vector<RunDifference>& list = beyond ? beyond_ : diff_.differences;
    if (list.size() < kDifferencesMax) list.push_back(std::move(difference));
  }

  // Only where nothing else differs, and only one goes on, is one the beginning of the other.
  void settle_beyond() {
    if (beyond_.empty()) return;
    const auto of_a = std::count_if(beyond_.begin(), beyond_.end(),
                                    [](const RunDifference& one) { return one.seq_a.has_value(); });
    const auto all = static_cast<std::ptrdiff_t>(beyond_.size());
    if (diff_.differences.empty() && (of_a == 0 || of_a == all)) {
      diff_.prefix = of_a == 0 ? PrefixOf::a_of_b : PrefixOf::b_of_a;
      return;
    }
    auto& list = diff_.differences;
    list.insert(list.begin(), beyond_.begin(), beyond_.end());
    if (list.size() > kDifferencesMax) list.resize(kDifferencesMax);
  }

  static RunDifference about(const DiffItem& item) {
    RunDifference difference;
    difference.step = item.step;
    difference.event = item.type;
    difference.call = item.call;
    return difference;
  }

  void compare(const DiffItem& a, const DiffItem& b) {
    for (const bool verbatim : {false, true}) {
      const auto found =
          json_differences(verbatim ? a.verbatim : a.event, verbatim ? b.verbatim : b.event,
                           kDifferencesMax - diff_.differences.size());
      for (const JsonDifference& one : found) {
        RunDifference difference = about(a);
        difference.seq_a = a.seq;
        difference.seq_b = b.seq;
        difference.path = one.path;
        fill_values(one, difference);
        diff_.differences.push_back(std::move(difference));
      }
      if (!found.empty()) return;
    }
  }

  void fill_values(const JsonDifference& found, RunDifference& difference) const {
    const auto a = text_of(found.left, diff_.a.run);
    const auto b = text_of(found.right, diff_.b.run);
    if (!a || !b) {
      difference.a = found.left ? write_json(*found.left) : "";
      difference.b = found.right ? write_json(*found.right) : "";
      return;
    }
    const auto [in_a, in_b] = std::mismatch(a->begin(), a->end(), b->begin(), b->end());
    const auto at = static_cast<std::size_t>(in_a - a->begin());
    difference.byte = at;
    difference.a = excerpt(*a, at);
    difference.b = excerpt(*b, at);
  }

  // The text a value is or refers to; nullopt for other values, and for blobs that cannot be read.
  std::optional<std::string> text_of(const std::optional<Json>& value, const RunId& run) const {
    const std::string* text = value ? value->if_string() : nullptr;
    if (text == nullptr) return std::nullopt;
    const auto digest = blob_digest(*text);
    if (!digest) return *text;
    const auto bytes = reader_.blob(run, *digest);
    return bytes ? std::optional(*bytes) : std::nullopt;
  }

  JournalReader& reader_;
  DiffItemReader a_;
  DiffItemReader b_;
  std::string output_a_;
  std::string output_b_;
  std::vector<RunDifference> beyond_;  // what one has and the other has not come to
  RunDiff diff_;
};

}  // namespace

std::string_view name(PrefixOf value) {
  switch (value) {
    case PrefixOf::neither:
      return "neither";
    case PrefixOf::a_of_b:
      return "a_of_b";
    case PrefixOf::b_of_a:
      return "b_of_a";
  }
  return "neither";
}

Result<RunDiff> diff_runs(JournalReader& reader, const RunId& a, const RunId& b, DiffScope scope) {
  return RunComparison(reader, a, b, scope).go();
}

}  // namespace pawl
