#include "pawl/gate/approvals/approval_render.h"

#include <algorithm>

#include "pawl/json.h"

namespace pawl {
namespace {

constexpr std::string_view kMark = "  | ";    // a line of what came from outside
constexpr std::string_view kGoesOn = "  : ";  // the same line, goes on
constexpr std::string_view kProse = "  model> ";
constexpr std::string_view kProseGoesOn = "       > ";

// Untrusted bytes as marked lines.
void append_block(std::string& out, std::string_view bytes, std::string_view mark,
                  std::string_view goes_on) {
  out += mark;
  std::size_t columns = mark.size();
  while (!bytes.empty()) {
    const Glyph glyph = first_glyph(bytes);
    bytes.remove_prefix(glyph.bytes);
    if (columns + glyph.columns > kShownColumns) {
      out += '\n';
      out += goes_on;
      columns = goes_on.size();
    }
    out += glyph.shown;
    columns += glyph.columns;
    if (glyph.ends_line && !bytes.empty()) {
      out += '\n';
      out += mark;
      columns = mark.size();
    }
  }
  out += '\n';
}

// Where to cut so that no character is torn.
std::size_t cut_before(std::string_view bytes, std::size_t at) {
  constexpr std::size_t kContinuationMax = 3;
  for (std::size_t i = 0; i < kContinuationMax && at > 0 && at < bytes.size(); ++i) {
    if ((static_cast<unsigned char>(bytes[at]) & 0xC0U) != 0x80U) break;
    --at;
  }
  return at;
}

std::string digest_line(std::string_view bytes) {
  return std::to_string(bytes.size()) + " bytes, sha256 " + to_hex(sha256(bytes));
}

class Rendering {
 public:
  ApprovalView view;

  void line(std::string_view ours) {
    view.text += ours;
    view.text += '\n';
  }

  void reason(std::string_view why) {
    constexpr std::size_t kReasonBytes = 2000;
    if (!why.empty()) line("Asked because: " + visible_line(why.substr(0, kReasonBytes)));
  }

  // Whole, or its head and its tail with the cut between them.
  void value(std::string_view bytes, std::size_t head, std::size_t tail) {
    view.oddities.merge(find_oddities(bytes));
    if (bytes.size() <= head + tail) return append_block(view.text, bytes, kMark, kGoesOn);
    view.needs_expansion = true;
    const std::size_t first = cut_before(bytes, head);
    const std::size_t last = cut_before(bytes, bytes.size() - tail);
    append_block(view.text, bytes.substr(0, first), kMark, kGoesOn);
    line("  [cut: " + std::to_string(last - first) + " of " + digest_line(bytes) + "]");
    append_block(view.text, bytes.substr(last), kMark, kGoesOn);
  }

  void arguments(std::string_view input) {
    const auto json = parse_json(input);
    if (!json || !json->is_object()) {
      line((json ? "Arguments (not an object; " : "Arguments (not JSON; ") + digest_line(input) +
           "):");
      return value(input, kShownHeadBytes, kShownTailBytes);
    }
    const auto& members = json->object().members();
    const std::size_t count = std::min(members.size(), kShownValuesMax);
    // Many values share the room of a few.
    constexpr std::size_t kFew = 4;
    const std::size_t share = std::max<std::size_t>(count / kFew, 1);
    line("Arguments (" + std::to_string(members.size()) + "):");
    for (std::size_t i = 0; i < count; ++i) member(members[i], share);
    if (members.size() > count) {
      view.needs_expansion = true;
      line("  [cut: " + std::to_string(members.size() - count) + " more arguments]");
    }
    line("Exact bytes (" + digest_line(input) + "):");
    value(input, kShownHeadBytes / share, kShownTailBytes / share);
  }

  void warnings() {
    if (view.oddities.has(Oddity::padding)) view.needs_expansion = true;
    for (const Oddity oddity : view.oddities.list()) {
      line("WARNING: there are " + std::string(describe(oddity)));
    }
  }

  void prose(std::string_view words) {
    if (words.empty()) return;
    line("The model says (not verified, may be false):");
    const std::size_t shown = cut_before(words, std::min(words.size(), kShownProseBytes));
    append_block(view.text, words.substr(0, shown), kProse, kProseGoesOn);
    if (shown < words.size()) {
      line("  [cut: " + std::to_string(words.size() - shown) + " more bytes]");
    }
  }

 private:
  void member(const JsonMember& member, std::size_t share) {
    constexpr std::size_t kKeyBytes = 100;
    const std::string_view key = std::string_view(member.key);
    view.oddities.merge(find_oddities(key));
    const std::size_t shown = cut_before(key, std::min(key.size(), kKeyBytes));
    if (shown < key.size()) view.needs_expansion = true;
    const bool full = view.text.size() > kShownTextBytes;
    if (full) view.needs_expansion = true;
    line("  " + visible_word(key.substr(0, shown)) + (shown < key.size() ? " [cut]" : "") +
         (full ? ": [cut: the view is full]" : ":"));
    if (full) return view.oddities.merge(find_oddities(write_json(member.value)));
    if (const std::string* text = member.value.if_string()) {
      return value(*text, kShownHeadBytes / share, kShownTailBytes / share);
    }
    const JsonArray* list = member.value.if_array();
    const bool words =
        list != nullptr &&
        std::all_of(list->begin(), list->end(), [](const Json& one) { return one.is_string(); });
    if (words) return word_list(*list, share);
    value(write_json(member.value), kShownHeadBytes / share, kShownTailBytes / share);
  }

  // Each word in quotes, so that one with a space at its end is seen.
  void word_list(const JsonArray& list, std::size_t share) {
    const std::size_t count = std::min(list.size(), kShownValuesMax);
    std::string words;
    for (const Json& word : list) view.oddities.merge(find_oddities(word.string()));
    for (std::size_t i = 0; i < count; ++i) {
      constexpr std::size_t kWordBytes = 400;
      const std::string_view word = list[i].string();
      const std::size_t limit = std::max<std::size_t>(kWordBytes / share, 40);
      if (word.size() <= 2 * limit) {
        words += visible_word(word) + (i + 1 < count ? " " : "");
        continue;
      }
      view.needs_expansion = true;
      const std::size_t first = cut_before(word, limit);
      const std::size_t last = cut_before(word, word.size() - limit);
      words += visible_word(word.substr(0, first)) + "[cut: " + std::to_string(last - first) +
               " of " + digest_line(word) + "]" + visible_word(word.substr(last)) + " ";
    }
    append_shown(words);
    if (list.size() > count) {
      view.needs_expansion = true;
      line("  [cut: " + std::to_string(list.size() - count) + " more words; the last: " +
           visible_word(std::string_view(list.back().string()).substr(0, kShownTailBytes)) + "]");
    }
  }

  // Visible already: only broken into lines.
  void append_shown(std::string_view shown) {
    view.text += kMark;
    std::size_t columns = kMark.size();
    while (!shown.empty()) {
      const Glyph glyph = first_glyph(shown);
      if (columns + glyph.columns > kShownColumns) {
        view.text += '\n';
        view.text += kGoesOn;
        columns = kGoesOn.size();
      }
      view.text += shown.substr(0, glyph.bytes);
      columns += glyph.columns;
      shown.remove_prefix(glyph.bytes);
    }
    view.text += '\n';
  }
};

std::size_t pages_of(std::string_view input) {
  return std::max<std::size_t>((input.size() + kShownPageBytes - 1) / kShownPageBytes, 1);
}

// Names of tools come from servers too.
std::string tool_line(const std::string& tool) {
  constexpr std::size_t kToolBytes = 128;
  const std::string_view name = std::string_view(tool).substr(0, kToolBytes);
  return visible_line(name) + (tool.size() > name.size() ? " [cut]" : "");
}

std::string page_of(std::string_view tool, std::string_view input, std::size_t page) {
  const std::size_t begin = cut_before(input, page * kShownPageBytes);
  const std::size_t end = cut_before(input, std::min(input.size(), (page + 1) * kShownPageBytes));
  std::string out = "Exact bytes " + std::to_string(begin) + " to " + std::to_string(end) + " of " +
                    std::to_string(input.size()) + " (" + tool_line(std::string(tool)) + ", page " +
                    std::to_string(page + 1) + " of " + std::to_string(pages_of(input)) + "):\n";
  append_block(out, input.substr(begin, end - begin), kMark, kGoesOn);
  return out;
}

}  // namespace

ApprovalView render_approval(const ApprovalSubject& subject) {
  Rendering out;
  out.view.digest = sha256(subject.input);
  out.view.pages = pages_of(subject.input);
  out.view.oddities = find_oddities(subject.tool);
  out.line("Tool: " + tool_line(subject.tool));
  out.reason(subject.reason);
  if (!subject.place.empty()) out.line("Runs in: " + visible_line(subject.place));
  out.arguments(subject.input);
  out.warnings();
  out.prose(subject.prose);
  if (out.view.needs_expansion) {
    out.line("Something is cut: look at all " + std::to_string(out.view.pages) +
             " pages of the full view before you approve.");
  }
  return std::move(out.view);
}

std::string render_page(const ApprovalSubject& subject, std::size_t page) {
  if (page >= pages_of(subject.input)) return {};
  return page_of(subject.tool, subject.input, page);
}

ApprovalView render_plan(const Plan& plan, const std::string& reason, const std::string& place) {
  Rendering out;
  Sha256 hash;
  out.line("Plan of " + std::to_string(plan.steps.size()) + " steps, approved as one");
  out.reason(reason);
  if (!place.empty()) out.line("Runs in: " + visible_line(place));
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const ProposedStep& step = plan.steps[i];
    hash.add(std::to_string(step.tool.size()) + ":").add(step.tool);
    hash.add(std::to_string(step.input.size()) + ":").add(step.input);
    out.view.pages += pages_of(step.input);
    if (i >= kShownStepsMax) continue;
    out.line("Step " + std::to_string(i + 1) + ": " + tool_line(step.tool));
    out.arguments(step.input);
    out.prose(step.description);
  }
  if (plan.steps.size() > kShownStepsMax) {
    out.view.needs_expansion = true;
    out.line("[cut: " + std::to_string(plan.steps.size() - kShownStepsMax) + " more steps]");
  }
  out.warnings();
  out.view.digest = hash.finish();
  out.line("Plan digest: sha256 " + to_hex(out.view.digest));
  return std::move(out.view);
}

std::string render_plan_page(const Plan& plan, std::size_t page) {
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const ProposedStep& step = plan.steps[i];
    const std::size_t pages = pages_of(step.input);
    if (page < pages) {
      return "Step " + std::to_string(i + 1) + ". " + page_of(step.tool, step.input, page);
    }
    page -= pages;
  }
  return {};
}

}  // namespace pawl
