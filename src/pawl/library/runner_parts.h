// What a runner consists of. Private to the library.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>

#include "pawl/adapter/epoll/epoll_loop.h"
#include "pawl/base/thrown.h"
#include "pawl/engine/engine.h"
#include "pawl/library/permission_desk.h"
#include "pawl/library/prepare.h"
#include "pawl/result.h"
#include "pawl/runner.h"
#include "pawl/testing/journal_memory/journal_memory.h"
#include "pawl/tools/worker_pool.h"

namespace pawl {

// Runs that are over and still kept by a runner without a store: its memory is bounded too.
inline constexpr std::size_t kRunsOverMax = 64;
inline constexpr std::string_view kBlockingTwice =
    "this runner is in run(), resume() or next() already: one thread at a time, and from its "
    "callbacks start()";

struct Runner::Parts {
  std::shared_ptr<EpollLoop> own_loop;  // only when run() may be called
  std::shared_ptr<Loop> loop;
  std::shared_ptr<void> store_owner;
  std::shared_ptr<WorkerPool> pool = std::make_shared<WorkerPool>();
  std::map<std::string, PreparedAgent> agents;  // by charter name, for resume
  std::map<RunId, Finished> waiting;
  std::shared_ptr<MemoryJournal> own_store;  // only when the host brought none
  std::deque<RunId> over;                    // of its runs, oldest first
  std::unique_ptr<Engine> engine;
  std::unique_ptr<PermissionDesk> desk;
  std::shared_ptr<void> subscription;
  std::string refused_tool;            // why tool() made none
  std::string refused_store;           // why there is no store
  std::atomic<bool> blocking = false;  // somebody is in run(), resume() or next()
  std::shared_ptr<int> alive = std::make_shared<int>(0);  // what is posted asks for it

  explicit Parts(Ports ports) {
    loop = ports.loop;
    store_owner = ports.store_owner;
    Store store = ports.store;
    if (store.journal == nullptr && ports.open_store) store = opened(ports.open_store);
    if (store.journal == nullptr) {
      const auto memory = std::make_shared<MemoryJournal>(*loop);
      store = {memory.get(), memory.get(), memory.get(), memory.get()};
      store_owner = memory;
      own_store = memory;
    }
    const AgentSource source = [this](const PinnedCharter& pinned) { return agent_of(pinned); };
    engine = std::make_unique<Engine>(EngineOptions{*loop, store, std::move(ports.callbacks),
                                                    source, "library", kSnapshotBytesMin, nullptr,
                                                    std::move(ports.services)});
    desk = std::make_unique<PermissionDesk>(*engine, std::move(ports.permissions));
    if (ports.events) subscription = engine->subscribe(std::move(ports.events));
    engine->on_ended([this](const RunId& run, const Status& status) { ended(run, status); });
  }

  // Without a journal where it cannot be opened: then no run is accepted.
  Store opened(const StoreOpener& open) {
    std::string why = "it has no journal";
    try {
      auto made = open(*loop);
      if (made && made->store.journal != nullptr) {
        store_owner = std::move(made->owner);
        return made->store;
      }
      if (!made) why = made.error().message;
    } catch (...) {  // of the host's
      why = what_was_thrown();
    }
    refused_store = "the store cannot be opened: " + why;
    return {};
  }

  pawl::Result<PreparedAgent> agent_of(const PinnedCharter& pinned) const {
    const auto found = agents.find(pinned.name);
    if (found == agents.end()) {
      return Error{ErrorCode::not_found, "no agent called " + pinned.name + " was given"};
    }
    return found->second;
  }

  Result result_of(const RunId& run, const Status& status) const {
    Result result;
    result.run_id = run;
    if (!status) {
      result.error = status.error().message;
      return result;
    }
    if (const Run* last = engine->leaving(run)) return result_of(last->state(), result);
    const auto loaded = load_run(*engine->store().reader, run, UseSnapshot::yes);
    if (loaded) return result_of(loaded->run.state(), result);
    result.error = loaded.error().message;
    return result;
  }

  Result result_of(const RunState& state, Result result) const {
    JournalReader& reader = *engine->store().reader;
    if (const auto text = output_text(reader, state)) result.output = *text;
    result.steps = state.tally.steps;
    result.usage = state.tally.usage;
    result.status = status_of(state);
    const bool waits = result.status == RunStatus::waiting;
    result.stop_reason = waits ? name(waits_for(state)) : name(stop_reason_of(state));
    if (result.status != RunStatus::done) result.error = why(state, result);
    return result;
  }

  static std::string why(const RunState& state, const Result& result) {
    std::string text = std::string(name(result.status)) + ": " + result.stop_reason;
    const Ending* ending = std::get_if<Ending>(&state.course);
    if (ending != nullptr && !ending->detail.empty()) text += " (" + ending->detail + ")";
    return text;
  }

  void ended(const RunId& run, const Status& status) {
    const auto found = waiting.find(run);
    if (found == waiting.end()) return;
    const auto failed = [this, run](const Status& why) { ended(run, why); };
    if (status && desk->ask(run, failed)) return;  // It goes on when the host has answered.
    if (status && engine->wakes(run)) return;      // It goes on by itself.
    const Finished finished = std::move(found->second);
    waiting.erase(found);
    const Result result = result_of(run, status);
    if (own_store && result.status != RunStatus::waiting) forget_later(run);
    // In a turn of its own: what the host throws there comes out of its loop, and not through the
    // engine, which would be left in the middle of something.
    loop->post([finished, result, still = std::weak_ptr(alive)] {
      if (!still.expired()) finished(result);
    });
  }

  void forget_later(const RunId& run) {
    over.push_back(run);
    if (over.size() <= kRunsOverMax) return;
    own_store->remove(over.front(), [](const Status&) {});  // one that is not there is as well gone
    over.pop_front();
  }

  PreparedAgent prepared(const RunnableAgent& given) {
    PreparedAgent agent = prepare(given);
    if (agent.charter.model.empty() && agent.executor) agent.charter.model = default_model(given);
    agents[agent.charter.name] = agent;
    return agent;
  }

  static std::string default_model(const RunnableAgent& agent) {
    try {
      const auto models = agent.executor->list_models();
      return models.empty() ? "" : models.front().id;
    } catch (
        ...) {  // The executor is the host's. It is asked without a name, and may fail the run.
      return "";
    }
  }

  // Why the agent cannot be run at all. A tool that tool() refused is null.
  Status usable(const RunnableAgent& agent) const {
    if (!refused_store.empty()) return Error{ErrorCode::unavailable, refused_store};
    const bool whole = std::all_of(agent.tools.begin(), agent.tools.end(),
                                   [](const auto& tool) { return tool != nullptr; });
    if (whole || refused_tool.empty()) return ok();
    return Error{ErrorCode::invalid_argument, refused_tool};
  }

  // `finished` gets the reason when the run is not even accepted.
  RunId start(const RunnableAgent& agent, std::string input,
              std::shared_ptr<const InvocationContext> context, Finished finished) {
    StartRequest request{prepared(agent), std::move(input), make_run_id(loop->wall_ms()),
                         std::move(context)};
    const RunId id = *request.id;
    waiting[id] = std::move(finished);
    if (const Status fit = usable(agent); !fit) {
      ended(id, fit);
      return id;
    }
    engine->start(std::move(request), [this, id](const pawl::Result<RunId>& accepted) {
      if (!accepted) ended(id, accepted.error());
    });
    return id;
  }

  Result wait_for(const std::function<void(Finished)>& begin) {
    PAWL_ASSERT(own_loop != nullptr);  // on a host's loop only the asynchronous calls make sense
    // Shared: a callback of another run may throw out of here before this one is over.
    const auto result = std::make_shared<std::optional<Result>>();
    const auto begin_it = [&] { begin([result](Result value) { *result = std::move(value); }); };
    if (!block(begin_it, [&result] { return result->has_value(); })) {
      Result refused;
      refused.error = std::string(kBlockingTwice);
      return refused;
    }
    PAWL_ASSERT(result->has_value());
    return std::move(**result);
  }

  // Runs the loop on this thread. False: this very runner does so already, in another thread or
  // further up on this one's stack, and nothing was begun.
  bool block(const std::function<void()>& begin, const std::function<bool()>& finished) {
    if (blocking.exchange(true)) return false;
    struct Reset {
      std::atomic<bool>& flag;
      ~Reset() { flag = false; }
    };
    const Reset reset{blocking};
    begin();
    own_loop->run_until(finished);
    return true;
  }
};

}  // namespace pawl
