#include "pawl/journal/event_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "pawl/json.h"
#include "pawl/words.h"

namespace pawl {
namespace {

// Fields that records were written without for a while. Where they say nothing they are left out,
// so that such a record is shown as it was.
bool is_later(std::string_view field) {
  static constexpr std::array<std::string_view, 10> kLater = {
      "nodes", "packs",  "scope",        "owner",     "phases",
      "gate",  "agents", "adhoc_agents", "subagents", "lineage"};
  return std::find(kLater.begin(), kLater.end(), field) != kLater.end();
}

// Writes kernel types as JSON by their fields().
class FieldPrinter {
 public:
  FieldPrinter(JsonWriter& out, Contents contents) : out_(out), contents_(contents) {}

  template <class T>
  void field(const char* key, const T& value) {
    if (is_later(key) && value == T{}) return;
    out_.key(key);
    put(value);
  }
  // What is JSON already is shown as JSON when it is whole and valid.
  void field(const char* key, const Content& value) {
    out_.key(key);
    const std::string* bytes = value.bytes();
    const std::string_view name = key;
    const bool json = contents_ == Contents::parsed && (name == "input" || name == "json");
    if (json && bytes != nullptr && !bytes->empty() && check_json(*bytes)) {
      out_.raw(*bytes);
    } else {
      put(value);
    }
  }

 private:
  template <class T>
    requires std::is_unsigned_v<T>
  void put(const T& value) {
    out_.number(static_cast<std::uint64_t>(value));
  }
  void put(const std::int64_t& value) { out_.number(value); }
  void put(const std::string& value) { out_.string(value); }
  void put(const RunId& value) { out_.string(value.text); }
  void put(const Digest& value) { out_.string(to_hex(value)); }
  void put(const InstanceId& value) { out_.string(to_string(value)); }
  void put(const CallId& value) { out_.string(to_string(value)); }
  void put(const EffectId& value) { out_.string(to_string(value)); }
  template <class T>
    requires std::is_enum_v<T>
  void put(const T& value) {
    out_.string(name(value));
  }
  void put(const Content& value) {
    if (const std::string* bytes = value.bytes()) {
      out_.string(*bytes);
      return;
    }
    out_.begin_object();
    out_.field("blob", to_hex(value.blob()->digest));
    out_.field("bytes", value.blob()->length);
    out_.end_object();
  }
  template <class T>
  void put(const std::optional<T>& value) {
    if (value) {
      put(*value);
    } else {
      out_.null();
    }
  }
  template <class T>
  void put(const std::vector<T>& values) {
    out_.begin_array();
    for (const T& value : values) put(value);
    out_.end_array();
  }
  template <class... T>
  void put(const std::variant<T...>& value) {
    std::visit(
        [this](const auto& one) {
          out_.begin_object();
          out_.field("type", std::decay_t<decltype(one)>::kName);
          fields(one);
          out_.end_object();
        },
        value);
  }
  template <HasFields T>
  void put(const T& value) {
    out_.begin_object();
    fields(value);
    out_.end_object();
  }

  template <HasFields T>
  void fields(const T& value) {
    T::fields(value, [this](const char* key, const auto& one) { this->field(key, one); });
  }

  JsonWriter& out_;
  Contents contents_;
};

// An event's own instance is part of every line's head, and so is its type.
struct EventFields {
  FieldPrinter& printer;

  template <class T>
  void operator()(const char* key, const T& value) const {
    const std::string_view name = key;
    if (name != "instance" && name != "run" && name != "type") printer.field(key, value);
  }
};

void put_head(JsonWriter& out, const RecordView& view) {
  out.field("run", view.run.text);
  out.field("seq", view.record.seq);
  out.field("type", name(view.record.event));
  out.field("at", format_time(view.record.stamp.at_ms));
  out.field("step", view.step);
  out.field("instance", to_string(view.record.instance));
  out.field("primary", view.primary);
}

void put_usage(JsonWriter& out, const RecordView& view) {
  out.key("usage").begin_object();
  out.field("steps", view.tally.steps);
  out.field("model_calls", view.tally.model_calls);
  out.field("tool_calls", view.tally.tool_calls);
  out.field("input_tokens", view.tally.usage.input_tokens);
  out.field("output_tokens", view.tally.usage.output_tokens);
  out.field("cache_read_tokens", view.tally.usage.cache_read_tokens);
  out.field("cache_creation_tokens", view.tally.usage.cache_creation_tokens);
  out.field("cache_creation_1h_tokens", view.tally.usage.cache_creation_1h_tokens);
  out.field("total_tokens", total_tokens(view.tally.usage));
  out.field("bytes_in", view.tally.bytes_in);
  out.field("bytes_out", view.tally.bytes_out);
  out.field("active_ms", view.tally.active_ms);
  out.field("cost", format_money(view.tally.cost_pico, view.currency));
  out.end_object();
}

void put_final(JsonWriter& out, const RecordView& view, const FinalFields& fields) {
  const bool waiting = view.status == RunStatus::waiting;
  out.field("status", name(view.status));
  out.field("stop_reason", waiting ? name(view.wait) : name(view.reason));
  out.field("detail", view.detail);
  out.field("output", fields.output ? Json(*fields.output) : Json());
  out.key("calls_in_doubt").begin_array();
  for (const CallId call : view.calls_in_doubt) out.string(to_string(call));
  out.end_array();
  put_usage(out, view);
}

}  // namespace

std::string event_json(const RecordView& view, const FinalFields* final_fields) {
  JsonWriter out;
  FieldPrinter printer(out, Contents::parsed);
  out.begin_object();
  put_head(out, view);
  const bool finished = std::holds_alternative<RunFinished>(view.record.event);
  const bool waiting = std::holds_alternative<RunWaiting>(view.record.event);
  if (final_fields != nullptr && (finished || waiting)) {
    put_final(out, view, *final_fields);
    const auto* waits = std::get_if<RunWaiting>(&view.record.event);
    if (waits != nullptr && !waits->suspended.empty()) printer.field("suspended", waits->suspended);
  } else {
    std::visit(
        [&printer](const auto& event) {
          std::decay_t<decltype(event)>::fields(event, EventFields{printer});
        },
        view.record.event);
  }
  printer.field("decisions", view.record.decisions);
  printer.field("effects", view.record.effects);
  out.end_object();
  return out.take();
}

std::string event_json(const RecordView& event) {
  return event_json(event, nullptr);
}

std::string record_json(const Record& record, Contents contents) {
  JsonWriter out;
  FieldPrinter printer(out, contents);
  out.begin_object().field("seq", record.seq);
  printer.field("epoch", record.stamp.epoch);
  printer.field("at_ms", record.stamp.at_ms);
  printer.field("elapsed_ms", record.stamp.elapsed_ms);
  out.field("type", name(record.event)).field("instance", to_string(record.instance));
  std::visit(
      [&printer](const auto& event) {
        std::decay_t<decltype(event)>::fields(event, [&](const char* key, const auto& value) {
          if (std::string_view(key) != "instance" && std::string_view(key) != "type") {
            printer.field(key, value);
          }
        });
      },
      record.event);
  printer.field("decisions", record.decisions);
  printer.field("effects", record.effects);
  return out.end_object().take();
}

std::string preview_json(const Preview& preview) {
  static constexpr std::array<std::string_view, 3> kKinds = {"text", "thinking", "tool_input"};
  JsonWriter out;
  out.begin_object();
  out.field("run", preview.run.text);
  out.field("type", "preview");
  out.field("after_seq", preview.after_seq);
  out.field("step", preview.step);
  out.field("instance", to_string(preview.instance));
  out.field("call", to_string(preview.effect));
  out.field("attempt", preview.attempt);
  out.field("kind", kKinds[static_cast<std::size_t>(preview.kind)]);
  out.field("offset", preview.offset);
  out.field("text", preview.text);
  out.end_object();
  return out.take();
}

std::string format_time(std::int64_t wall_ms) {
  constexpr std::int64_t kMsPerSecond = 1000;
  std::int64_t seconds = wall_ms / kMsPerSecond;
  std::int64_t millis = wall_ms % kMsPerSecond;
  if (millis < 0) {
    millis += kMsPerSecond;
    --seconds;
  }
  const auto when = static_cast<std::time_t>(seconds);
  std::tm utc{};
  if (gmtime_r(&when, &utc) == nullptr) return "invalid";
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, millis);
}

}  // namespace pawl
