#include "pawl/history/diff_items.h"

#include <algorithm>
#include <map>

#include "pawl/journal/event_json.h"

namespace pawl {
namespace {

// No text of a journal begins like this by accident; one that does is shown as it is.
constexpr std::string_view kBlobMark = "\x01blob:";

using Words = std::initializer_list<std::string_view>;
bool is_one_of(std::string_view word, Words words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Events about who drives a run and when: they change nothing in what the run does.
bool is_circumstance(const Event& event) {
  return is_one_of(name(event), {"driver_attached", "timer_fired", "run_waiting", "hook_failed",
                                 "pause_requested", "resume_requested", "model_aborted"});
}

bool must_differ(std::string_view key) {
  return is_one_of(key, {"run", "seq", "epoch", "at_ms", "elapsed_ms", "effect", "effects",
                         "session", "provider_id", "forked_from"});
}

// Decisions that say something that the events before do not.
bool tells(const Json& decision) {
  const std::string* type = decision.find_string("type");
  return type != nullptr && is_one_of(*type, {"ending_began", "call_refused", "call_in_doubt",
                                              "call_unknown", "note_added"});
}

std::optional<std::string> blob_mark(const JsonObject& object) {
  const Json* digest = object.find("blob");
  if (object.size() != 2 || digest == nullptr || !digest->is_string()) return std::nullopt;
  return std::string(kBlobMark) + digest->string();
}

Json with_blob_marks(const Json& value) {
  if (const JsonArray* items = value.if_array()) {
    JsonArray kept;
    for (const Json& item : *items) kept.push_back(with_blob_marks(item));
    return kept;
  }
  const JsonObject* object = value.if_object();
  if (object == nullptr) return value;
  if (auto mark = blob_mark(*object)) return Json(*std::move(mark));
  JsonObject kept;
  for (const JsonMember& member : object->members()) {
    kept.set(member.key, with_blob_marks(member.value));
  }
  return kept;
}

JsonArray telling(const JsonArray& decisions) {
  JsonArray kept;
  for (const Json& decision : decisions) {
    if (tells(decision)) kept.push_back(decision);
  }
  return kept;
}

// Blocks are part of what a model said, but not what its provider calls them.
JsonArray without_provider_ids(const JsonArray& blocks) {
  JsonArray kept = blocks;
  for (Json& block : kept) {
    if (JsonObject* object = block.if_object()) object->remove("provider_id");
  }
  return kept;
}

Json substance_of(const Json& record) {
  JsonObject kept;
  for (const JsonMember& member : record.object().members()) {
    if (must_differ(member.key)) continue;
    if (member.key == "decisions") {
      JsonArray decisions = telling(member.value.array());
      if (!decisions.empty()) kept.set(member.key, std::move(decisions));
    } else if (member.key == "blocks") {
      kept.set(member.key, without_provider_ids(member.value.array()));
    } else {
      kept.set(member.key, member.value);
    }
  }
  return kept;
}

std::string call_of(const Event& event) {
  return std::visit(
      [](const auto& fact) -> std::string {
        if constexpr (requires { fact.call; }) return to_string(fact.call);
        return "";
      },
      event);
}

}  // namespace

std::optional<Digest> blob_digest(const std::string& text) {
  if (!text.starts_with(kBlobMark)) return std::nullopt;
  const auto digest = digest_from_hex(text.substr(kBlobMark.size()));
  return digest ? std::optional(*digest) : std::nullopt;
}

Result<DiffItem> DiffItemReader::make(const Record& record, std::uint64_t step) const {
  DiffItem item;
  item.step = step;
  item.seq = record.seq;
  item.type = name(record.event);
  item.call = call_of(record.event);
  PAWL_TRY(item.verbatim, parse_json(record_json(record, Contents::verbatim)));
  // Arguments that are as deep as JSON may be are too deep inside a record.
  const auto parsed = parse_json(record_json(record, Contents::parsed));
  item.event = parsed ? *parsed : item.verbatim;
  if (scope_ == DiffScope::substance) {
    item.event = substance_of(item.event);
    item.verbatim = substance_of(item.verbatim);
  }
  item.event = with_blob_marks(item.event);
  item.verbatim = with_blob_marks(item.verbatim);
  return item;
}

Status DiffItemReader::fill() {
  while (!ahead_) {
    // An event belongs to the step in which it came, also when it begins the next.
    const std::uint64_t step = walker_.loaded().run->tally.steps;
    PAWL_TRY(const auto record, walker_.next());
    if (!record) return ok();
    if (scope_ == DiffScope::substance && is_circumstance(record->event)) continue;
    PAWL_TRY(ahead_, make(*record, step));
  }
  return ok();
}

Result<bool> DiffItemReader::more() {
  PAWL_CHECK(fill());
  return ahead_.has_value();
}

Result<std::vector<DiffItem>> DiffItemReader::take_group(std::uint64_t group) {
  std::vector<DiffItem> items;
  std::map<std::string, int> seen;
  while (true) {
    PAWL_CHECK(fill());
    if (!ahead_) return items;
    const std::uint64_t number = scope_ == DiffScope::all ? ahead_->seq : ahead_->step;
    if (number != group) return items;
    if (items.size() == kStepItemsMax) {
      return Error{ErrorCode::limit_exceeded, "step " + std::to_string(group) + " has more than " +
                                                  std::to_string(kStepItemsMax) + " events"};
    }
    const std::string kind = ahead_->call.empty() ? ahead_->type : ahead_->call;
    // In full, records are compared by their number, whatever they are.
    const bool by_kind = scope_ == DiffScope::substance;
    ahead_->key = by_kind ? kind + " " + std::to_string(++seen[kind]) : "";
    items.push_back(*std::exchange(ahead_, std::nullopt));
  }
}

}  // namespace pawl
