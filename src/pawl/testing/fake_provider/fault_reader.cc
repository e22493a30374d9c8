#include <utility>

#include "pawl/testing/fake_provider/script_reader.h"

namespace pawl::fake {
namespace {

constexpr IntRange kStatus{400, 599};
constexpr IntRange kCount{1, static_cast<std::int64_t>(kFaultCountMax)};
constexpr IntRange kBytes{1, static_cast<std::int64_t>(kFaultBytesMax)};
constexpr IntRange kPlace{0, static_cast<std::int64_t>(kFaultBytesMax)};
constexpr IntRange kEveryMs{1, 24LL * 3600 * 1000};

std::vector<std::string_view> all_kinds() {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kFaultKinds; ++i) names.push_back(name(static_cast<FaultKind>(i)));
  return names;
}

// "stall" or 429, without further keys.
FaultSpec read_short(const Node& node, std::vector<Fault>& faults, const std::string& where) {
  FaultSpec spec;
  if (const auto status = node.as_int()) {
    if (*status >= kStatus.low && *status <= kStatus.high) {
      spec.status = static_cast<int>(*status);
    } else {
      add_fault(faults, {node.mark(), where + ": a status of a fault is from 400 to 599", {}});
    }
    return spec;
  }
  const std::vector<std::string_view> kinds = all_kinds();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (node.as_string() == kinds[i]) {
      spec.kind = static_cast<FaultKind>(i);
      return spec;
    }
  }
  std::string known;
  for (const std::string_view kind : kinds) known.append(known.empty() ? "" : ", ").append(kind);
  add_fault(faults, {node.mark(),
                     where + ": a fault is a status, a map, or one of " + known + "; found " +
                         describe_kind(node),
                     {}});
  return spec;
}

void read_place(MapReader& reader, FaultSpec& spec) {
  static constexpr std::array<std::string_view, 3> kPlaces = {"before_head", "in_head",
                                                              "before_end"};
  static constexpr std::array<FaultPlace, 3> kValues = {
      FaultPlace::before_head, FaultPlace::in_head, FaultPlace::before_end};
  if (const auto place = reader.take_choice("at", kPlaces)) spec.place = kValues[*place];
  const Node* deltas = reader.take("after_deltas");
  const Node* bytes = reader.take("after_bytes");
  if (deltas != nullptr) spec.place = FaultPlace::after_deltas;
  if (bytes != nullptr) spec.place = FaultPlace::after_bytes;
  const bool one_too_many = deltas != nullptr && bytes != nullptr;
  if (one_too_many) {
    reader.fault(bytes->mark(), R"("after_deltas" and "after_bytes" exclude each other)");
  }
  reader.take_int("after_deltas", kPlace, spec.n);
  reader.take_int("after_bytes", kPlace, spec.n);
}

}  // namespace

FaultSpec read_fault(const Node& node, std::vector<Fault>& faults, const std::string& where) {
  if (node.kind() != Node::Kind::map) return read_short(node, faults, where);
  FaultSpec spec;
  MapReader reader(node, faults, where);
  const auto kind = reader.take_choice("kind", all_kinds());
  if (kind) spec.kind = static_cast<FaultKind>(*kind);
  reader.take_int("status", kStatus, spec.status);
  if (node.find("kind") == nullptr && node.find("status") == nullptr) {
    reader.fault(node.mark(), R"("kind" or "status" is missing)");
  }
  if (const Node* after = reader.take("retry_after")) spec.retry_after = std::string(after->text());
  reader.take_string("type", spec.type);
  reader.take_string("message", spec.message);
  reader.take_bytes("bytes", kBytes, spec.bytes);
  reader.take_int("count", kCount, spec.count);
  reader.take_duration_ms("every", kEveryMs, spec.every_ms);
  if (const Node* usage = reader.take("usage")) spec.usage = std::string(usage->text());
  read_place(reader, spec);
  reader.take_int("times", kCount, spec.times);
  reader.take_int("skip", kCount, spec.skip);
  reader.finish();
  return spec;
}

}  // namespace pawl::fake
