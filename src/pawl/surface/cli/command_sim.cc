// sim: the simulator.
#include <algorithm>

#include "pawl/json.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/escape.h"

namespace pawl {
namespace {

constexpr std::uint64_t kRunsMax = 10'000;
constexpr std::uint64_t kStepsMax = 100'000;
constexpr std::uint64_t kProcessesMax = 64;
constexpr std::uint64_t kEndless = 1ULL << 60U;  // seeds, when time is what ends it
constexpr std::uint64_t kMinuteMs = 60'000;
constexpr std::size_t kTraceLines = 60;  // shown to people; JSON has all

Status take_number(const Arguments& arguments, std::string_view option, std::uint64_t max,
                   std::uint64_t& number) {
  const auto text = arguments.one(option);
  if (!text) return ok();
  PAWL_TRY(number, parse_count(option, *text));
  if (number <= max) return ok();
  return Error{ErrorCode::invalid_argument, "--" + std::string(option) + " is " + *text +
                                                ", and may be at most " + std::to_string(max)};
}

Result<std::vector<std::uint64_t>> parse_faults(const std::string& text) {
  std::vector<std::uint64_t> faults;
  if (text == "none") return faults;
  std::size_t from = 0;
  while (from <= text.size()) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    PAWL_TRY(faults.emplace_back(), parse_count("faults", text.substr(from, to - from)));
    from = to + 1;
  }
  return faults;
}

Result<SimulationRequest> request_of(const Arguments& arguments) {
  SimulationRequest request;
  PAWL_CHECK(take_number(arguments, "seed", UINT64_MAX, request.seed));
  PAWL_CHECK(take_number(arguments, "seeds", kEndless, request.seeds));
  PAWL_CHECK(take_number(arguments, "runs", kRunsMax, request.runs));
  PAWL_CHECK(take_number(arguments, "steps", kStepsMax, request.steps));
  PAWL_CHECK(take_number(arguments, "processes", kProcessesMax, request.processes));
  if (request.runs == 0 || request.steps == 0 || request.processes == 0 || request.seeds == 0) {
    return Error{ErrorCode::invalid_argument,
                 "--seeds, --runs, --steps and --processes are at least 1"};
  }
  if (const auto text = arguments.one("faults")) {
    PAWL_TRY(request.faults, parse_faults(*text));
  }
  if (const auto text = arguments.one("minutes")) {
    PAWL_TRY(const std::uint64_t minutes, parse_count("minutes", *text));
    request.time_ms = minutes * kMinuteMs;
    if (!arguments.has("seeds")) request.seeds = kEndless;
  }
  return request;
}

std::string sentence(const SimulationRequest& request, const SimulationTally& tally) {
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  const std::uint64_t rate =
      tally.events * kMinuteMs / std::max<std::uint64_t>(tally.elapsed_ms, 1);
  return number(tally.histories) + " histories from seed " + number(request.seed) + ": " +
         number(tally.events) + " events, " + number(tally.steps) + " steps, " +
         number(tally.effects) + " effects, " + number(tally.crashes) + " crashes, " +
         number(tally.faults) + " faults (" + number(rate) + " events a minute)";
}

void put_json(const CliContext& context, const SimulationRequest& request,
              const SimulationOutcome& outcome) {
  const SimulationTally& tally = outcome.tally;
  JsonWriter json;
  json.begin_object().field("seed", request.seed).field("histories", tally.histories);
  json.field("events", tally.events).field("steps", tally.steps).field("effects", tally.effects);
  json.field("crashes", tally.crashes).field("faults", tally.faults);
  json.field("elapsed_ms", tally.elapsed_ms).field("hash", std::to_string(tally.hash));
  json.field("ok", !outcome.failure.has_value());
  if (outcome.failure) {
    const SimulationFailure& failure = *outcome.failure;
    json.key("failure").begin_object().field("seed", failure.seed);
    json.field("violation", failure.violation);
    json.field("repeat", "pawl sim " + failure.arguments);
    json.key("trace").begin_array();
    for (const std::string& line : failure.trace) json.string(line);
    json.end_array().end_object();
  }
  print(context, json.end_object().take() + "\n");
}

void tell_failure(const CliContext& context, const SimulationFailure& failure) {
  const std::size_t count = failure.trace.size();
  const std::size_t from = count > kTraceLines ? count - kTraceLines : 0;
  if (from > 0) print(context, "(" + std::to_string(from) + " earlier lines; --json has all)\n");
  for (std::size_t i = from; i < count; ++i)
    print(context, safe_line(failure.trace[i], 400) + "\n");
  print(context, "seed " + std::to_string(failure.seed) +
                     " breaks a promise: " + safe_line(failure.violation, 400) + "\n" +
                     "shrunk from " + std::to_string(failure.faults_found) + " faults to " +
                     std::to_string(failure.faults_left) + "; to repeat it:\n  pawl sim " +
                     failure.arguments + "\n");
}

int command_sim(const CliContext& context) {
  const auto request = request_of(context.arguments);
  if (!request) return fail(context, request.error());
  const bool live = context.format() == Format::text && context.console().is_terminal(Stream::err);
  const SimulationOutcome outcome =
      context.environment.simulate(*request, [&](const SimulationTally& tally) {
        if (live) {
          context.console().write(
              Stream::err,
              "\r\x1b[K" + sentence(*request, tally).substr(0, context.console().columns() - 1));
        }
      });
  if (live) context.console().write(Stream::err, "\r\x1b[K");
  if (context.format() == Format::json) {
    put_json(context, *request, outcome);
  } else {
    if (outcome.failure) tell_failure(context, *outcome.failure);
    print(context, sentence(*request, outcome.tally) +
                       (outcome.failure ? "\n" : "; no promise was broken\n"));
  }
  return outcome.failure ? kExitError : kExitDone;
}

}  // namespace

CommandEntry sim_entry() {
  return {
      .name = "sim",
      .summary = "Play simulated histories, and look for a broken promise",
      .text =
          "The same kernel, driver and engine under a virtual clock, with crashes, power losses, "
          "full disks, failing tools and people who interfere. The same options are the same "
          "history, on every machine. A failure is shrunk and shown with the command that repeats "
          "it.",
      .options = {{"seed", '\0', Takes::value, "S", "The first seed. By default 1."},
                  {"seeds", '\0', Takes::value, "N", "How many seeds. By default 1."},
                  {"minutes", '\0', Takes::value, "T", "Go on with further seeds for so long."},
                  {"runs", '\0', Takes::value, "N", "Runs in each history. By default 8."},
                  {"steps", '\0', Takes::value, "M", "Steps of each run, at most. By default 20."},
                  {"processes", '\0', Takes::value, "P",
                   "Processes that drive them. By default 3."},
                  {"faults", '\0', Takes::value, "LIST",
                   "Only these faults, by number, as a failure lists them; or none."}},
      .run = command_sim,
  };
}

}  // namespace pawl
