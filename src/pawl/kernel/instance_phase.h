// The phases of an instance of a run.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "pawl/ids.h"
#include "pawl/limits.h"
#include "pawl/words.h"

namespace pawl {

// Phases of an instance: each holds exactly the data that is meaningful in it.
struct Ready {  // its next model call may be made
  std::uint32_t failed_attempts = 0;

  PAWL_FACT(Ready, "ready", PAWL_FIELD(failed_attempts));
};

struct AwaitingModel {
  EffectId effect{};
  std::uint32_t failed_attempts = 0;
  Usage reserved;
  std::uint32_t target = 0;
  std::uint64_t reserved_pico = 0;

  PAWL_FACT(AwaitingModel, "awaiting_model",
            PAWL_FIELD(effect) PAWL_FIELD(failed_attempts) PAWL_FIELD(reserved) PAWL_FIELD(target)
                PAWL_FIELD(reserved_pico));
};

struct BackingOff {
  std::uint32_t failed_attempts = 0;
  std::uint64_t until_elapsed_ms = 0;

  PAWL_FACT(BackingOff, "backing_off", PAWL_FIELD(failed_attempts) PAWL_FIELD(until_elapsed_ms));
};

struct AwaitingTools {  // its calls are in RunState::calls
  PAWL_FACT(AwaitingTools, "awaiting_tools");
};

struct Suspended {
  std::string suspend_id;
  std::string reason;
  std::string metadata;  // JSON; may be empty

  PAWL_FACT(Suspended, "suspended", PAWL_FIELD(suspend_id) PAWL_FIELD(reason) PAWL_FIELD(metadata));
};

struct AwaitingExternal {
  PAWL_FACT(AwaitingExternal, "awaiting_external");
};

struct Resting {  // its turn is over
  PAWL_FACT(Resting, "resting");
};

struct RateLimited {  // as BackingOff, but nobody needs to be there meanwhile
  std::uint32_t failed_attempts = 0;
  std::int64_t until_at_ms = 0;
  std::uint64_t until_elapsed_ms = 0;

  PAWL_FACT(RateLimited, "rate_limited",
            PAWL_FIELD(failed_attempts) PAWL_FIELD(until_at_ms) PAWL_FIELD(until_elapsed_ms));
};

struct AwaitingBudget {  // until somebody raises it; of a tenant's window, or until it has moved on
  std::uint32_t failed_attempts = 0;
  BudgetUnit unit = BudgetUnit::money;
  std::int64_t until_at_ms = 0;  // 0: no time helps
  std::uint64_t until_elapsed_ms = 0;

  PAWL_FACT(AwaitingBudget, "awaiting_budget",
            PAWL_FIELD(failed_attempts) PAWL_FIELD(unit) PAWL_FIELD(until_at_ms)
                PAWL_FIELD(until_elapsed_ms));
};

struct Compacting {
  EffectId effect{};
  std::uint32_t failed_attempts = 0;
  Usage reserved;
  std::uint32_t target = 0;
  std::uint64_t to = 0;  // see CompactContext
  std::uint64_t reserved_pico = 0;

  PAWL_FACT(Compacting, "compacting",
            PAWL_FIELD(effect) PAWL_FIELD(failed_attempts) PAWL_FIELD(reserved) PAWL_FIELD(target)
                PAWL_FIELD(to) PAWL_FIELD(reserved_pico));
};

struct Failing {  // the root, until its workers have ended
  RunStatus status = RunStatus::failed;
  StopReason reason = StopReason::end_turn;
  std::string detail;

  PAWL_FACT(Failing, "failing", PAWL_FIELD(status) PAWL_FIELD(reason) PAWL_FIELD(detail));
};

struct Flowing {  // the root of a flow: it never acts
  PAWL_FACT(Flowing, "flowing");
};

struct Ended {  // it has left the tree, and is forgotten when many have
  PAWL_FACT(Ended, "ended");
};

// DO NOT REORDER: the index is embedded in snapshots.
using Phase =
    std::variant<Ready, AwaitingModel, BackingOff, AwaitingTools, Suspended, AwaitingExternal,
                 Resting, RateLimited, AwaitingBudget, Compacting, Failing, Ended, Flowing>;

}  // namespace pawl
