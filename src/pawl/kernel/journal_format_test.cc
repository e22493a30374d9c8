// The tables of docs/journal-format.md are made from the code. PAWL_WRITE_GOLDEN=1 writes them
// anew.
#include <fstream>
#include <iterator>

#include "pawl/kernel/bytes.h"
#include "pawl/kernel/scenario_test.h"
#include "pawl/kernel/source_test.h"

namespace pawl::testing {
namespace {

// The name of a type in the document.
template <class T>
struct Named {
  static std::string text() { return std::string(T::kName); }
};
#define PAWL_NAMED(type, name)  \
  template <>                   \
  struct Named<type> {          \
    static std::string text() { \
      return name;              \
    }                           \
  }
PAWL_NAMED(std::uint32_t, "number32");
PAWL_NAMED(std::uint64_t, "number");
PAWL_NAMED(std::int64_t, "signed");
PAWL_NAMED(std::string, "text");
PAWL_NAMED(RunId, "text");
PAWL_NAMED(Digest, "digest");
PAWL_NAMED(Content, "content");
PAWL_NAMED(InstanceId, "number32");
PAWL_NAMED(CallId, "number");
PAWL_NAMED(EffectId, "number");
PAWL_NAMED(Block, "block");
PAWL_NAMED(YieldReason, "yield_reason");
PAWL_NAMED(ErrorCategory, "error_category");
PAWL_NAMED(ReplyStop, "reply_stop");
PAWL_NAMED(RunStatus, "run_status");
PAWL_NAMED(StopReason, "stop_reason");
PAWL_NAMED(HookPoint, "hook_point");
PAWL_NAMED(HookVerdict, "hook_verdict");
PAWL_NAMED(Origin, "origin");
PAWL_NAMED(EffectClass, "effect_class");
PAWL_NAMED(OnDoubt, "on_doubt");
PAWL_NAMED(Speaker, "speaker");
PAWL_NAMED(Presence, "presence");
PAWL_NAMED(ToolEnd, "tool_end");
PAWL_NAMED(StatusAnswer, "status_answer");
PAWL_NAMED(DoubtVerdict, "doubt_verdict");
PAWL_NAMED(RefusedBecause, "refused_because");
PAWL_NAMED(HeldFor, "held_for");
PAWL_NAMED(Note, "note");
PAWL_NAMED(FailureKind, "failure_kind");
PAWL_NAMED(BudgetUnit, "budget_unit");
PAWL_NAMED(AfterOutput, "after_output");
PAWL_NAMED(CutBy, "cut_by");
PAWL_NAMED(EndsTurn, "ends_turn");
PAWL_NAMED(Approvers, "approvers");
PAWL_NAMED(CallVerdict, "verdict");
PAWL_NAMED(GateStage, "gate_stage");
PAWL_NAMED(InterruptKind, "interrupt_kind");
PAWL_NAMED(InterruptDecision, "interrupt_decision");
PAWL_NAMED(NodeKind, "node_kind");
PAWL_NAMED(NextContext, "next_context");
PAWL_NAMED(NextWhen, "next_when");
PAWL_NAMED(WorkersOnEnd, "workers_on_end");
PAWL_NAMED(ChildStart, "child_start");
PAWL_NAMED(StateOwner, "state_owner");
PAWL_NAMED(ToolScope, "tool_scope");
PAWL_NAMED(Batch, "batch");
PAWL_NAMED(PhaseNeed, "phase_need");
PAWL_NAMED(OnParentEnd, "on_parent_end");
PAWL_NAMED(LeaveKind, "leave_kind");
PAWL_NAMED(LeaveBy, "leave_by");
PAWL_NAMED(CommandDrive, "command_drive");
PAWL_NAMED(EndedHow, "ended_how");
PAWL_NAMED(Delivery, "delivery");
PAWL_NAMED(WaitFor, "wait_for");
PAWL_NAMED(PlaceUse, "place_use");
PAWL_NAMED(AskKind, "ask_kind");
PAWL_NAMED(AskVerdict, "ask_verdict");
PAWL_NAMED(Steer, "steer");
PAWL_NAMED(ChildLife, "child_life");
PAWL_NAMED(ChildLeave, "child_leave");
PAWL_NAMED(PhaseAction, "phase_action");
PAWL_NAMED(PhaseStatus, "phase_status");
PAWL_NAMED(OutputFrom, "output_from");
PAWL_NAMED(SeatRole, "seat_role");
PAWL_NAMED(SeatEnd, "seat_end");
PAWL_NAMED(OutputKind, "output_kind");
PAWL_NAMED(WorkStatus, "work_status");
#undef PAWL_NAMED
template <class T>
struct Named<std::optional<T>> {
  static std::string text() { return "optional " + Named<T>::text(); }
};
template <class T>
struct Named<std::vector<T>> {
  static std::string text() { return "list of " + Named<T>::text(); }
};

// " = 5" where the default of a field is not that of its type.
template <class T>
std::string default_of(const T& value) {
  if (value == T{}) return "";
  if constexpr (std::is_same_v<T, std::string>) {
    return " = \"" + value + "\"";
  } else if constexpr (std::is_enum_v<T>) {
    if constexpr (sizeof(T) == 1) return " = `" + std::string(name(value)) + "`";
    return " = " + std::to_string(static_cast<std::uint64_t>(value));
  } else if constexpr (std::is_integral_v<T>) {
    return " = " + std::to_string(value);
  } else {
    return " = ?";
  }
}

template <class T>
std::string fields_of() {
  std::string text;
  T::fields(kDefault<T>, [&text](const char* field, const auto& held) {
    const std::string type = Named<std::decay_t<decltype(held)>>::text() + default_of(held);
    text += (text.empty() ? "`" : ", `") + std::string(field) + "` " + type;
  });
  CHECK(text.find('?') == std::string::npos);
  return text.empty() ? "-" : text;
}

template <class... T>
std::string table_of(const std::variant<T...>*) {
  std::string table = "| number | name | fields, in order |\n|---|---|---|\n";
  int number = 0;
  ((table += "| " + std::to_string(number++) + " | `" + std::string(T::kName) + "` | " +
             fields_of<T>() + " |\n"),
   ...);
  return table;
}

template <class V>
std::string table_of() {
  return table_of(static_cast<const V*>(nullptr));
}

// The last row would be unrecognised, which has no number.
std::string events() {
  std::string table = table_of<Event>();
  table.pop_back();
  return table.substr(0, table.rfind('\n') + 1);
}

template <class... T>
std::string structures_of() {
  std::string table = "| name | fields, in order |\n|---|---|\n";
  ((table += "| `" + Named<T>::text() + "` | " + fields_of<T>() + " |\n"), ...);
  return table;
}

template <class E>
std::string vocabulary() {
  std::string row = "| `" + Named<E>::text() + "` |";
  for (std::uint8_t i = 0; i < kCount<E>; ++i) {
    row += std::string(i == 0 ? " " : ", ") + std::to_string(i) + " `" +
           std::string(name(static_cast<E>(i))) + "`";
  }
  return row + " |\n";
}

template <class... E>
std::string vocabularies_of() {
  std::string table = "| name | values |\n|---|---|\n";
  ((table += vocabulary<E>()), ...);
  return table;
}

std::vector<std::pair<std::string, std::string>> tables() {
  return {{"events", events()},
          {"decisions", table_of<Decision>()},
          {"effects", table_of<Effect>()},
          {"blocks", table_of<Block>()},
          {"structures",
           structures_of<Stamp, Usage, Rates, PriceTier, Prices, Limits, Guards, RetryPolicy,
                         PinnedTool, Variable, PastMessage, Signer, ForkedFrom, ModelTarget,
                         CompactionPolicy, Attachment, CallJudgement, InputBlocked, AcceptedPolicy,
                         PinnedFile, EgressNote, EgressReport, NodeSpec, NextSpec, ChildSpec,
                         NodeCommand, StateSpec, PackSpec, DiscoverSpec, PhaseSpec, MapSpec,
                         AwaitSpec, WhenSpec, GateSpec, AgentSpec, SubagentBounds, Ancestor, Leave,
                         SuspendedInstance, TreeBooks, TreeBounds, WorkItem>()},
          {"vocabularies",
           vocabularies_of<
               YieldReason, ErrorCategory, ReplyStop, RunStatus, StopReason, HookPoint, HookVerdict,
               Origin, EffectClass, OnDoubt, Speaker, Presence, ToolEnd, StatusAnswer, DoubtVerdict,
               RefusedBecause, HeldFor, Note, FailureKind, BudgetUnit, AfterOutput, CutBy, EndsTurn,
               Approvers, CallVerdict, GateStage, InterruptKind, InterruptDecision, NodeKind,
               NextContext, NextWhen, WorkersOnEnd, ChildStart, StateOwner, ToolScope, Batch,
               PhaseNeed, OnParentEnd, LeaveKind, EndedHow, Delivery, WaitFor, PlaceUse, AskKind,
               AskVerdict, Steer, ChildLife, ChildLeave, PhaseAction, PhaseStatus, OutputFrom,
               SeatRole, SeatEnd, OutputKind, WorkStatus, LeaveBy, CommandDrive>()}};
}

std::string document_path() {
  return source_directory() + "/docs/journal-format.md";
}

TEST_CASE("docs/journal-format.md has the tables of the code") {
  std::ifstream in(document_path());
  std::string text{std::istreambuf_iterator<char>(in), {}};
  for (const auto& [name, table] : tables()) {
    const std::string begin = "<!-- table: " + name + " -->\n";
    const std::size_t from = text.find(begin);
    REQUIRE_MESSAGE(from != std::string::npos, name);
    const std::size_t start = from + begin.size();
    const std::size_t end = text.find("<!-- end -->", start);
    REQUIRE_MESSAGE(end != std::string::npos, name);
    if (!setting("PAWL_WRITE_GOLDEN", "").empty()) text.replace(start, end - start, table);
    CHECK_MESSAGE(text.substr(start, table.size()) == table, name);
  }
  if (!setting("PAWL_WRITE_GOLDEN", "").empty()) std::ofstream(document_path()) << text;
}

TEST_CASE("docs/journal-format.md names the versions that the code writes") {
  std::ifstream in(document_path());
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  CHECK(text.find("record version **" + std::to_string(kRecordMajor) + "." +
                  std::to_string(kRecordMinor) + "**") != text.npos);
  CHECK(text.find("semantics **" + std::to_string(kSemantics) + "**") != text.npos);
  CHECK(text.find("snapshot version **" + std::to_string(kSnapshotVersion) + "**") != text.npos);
}

}  // namespace
}  // namespace pawl::testing
