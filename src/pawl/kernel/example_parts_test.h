// What the tests of several layers make runs of.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pawl/ids.h"
#include "pawl/kernel/events.h"

namespace pawl::testing {

inline Block says(std::string text) {
  return TextBlock{Content(std::move(text))};
}

inline Block calls(std::string tool, std::string input = "{}") {
  CallBlock block{std::move(tool), Content(std::move(input)), "", ""};
  block.judgement = CallJudgement::allowed();
  return block;
}

inline Block calls_judged(std::string tool, CallJudgement judgement) {
  CallBlock block{std::move(tool), Content("{}"), "", ""};
  block.judgement = std::move(judgement);
  return block;
}

inline Block calls_wrongly(std::string tool, std::string fault) {
  return CallBlock{std::move(tool), Content("{}"), "", std::move(fault)};
}

inline Usage tokens(std::uint64_t input, std::uint64_t output = 0) {
  Usage usage;
  usage.input_tokens = input;
  usage.output_tokens = output;
  return usage;
}

// Tools named by what they are: pure, idem, recon, once; "tell" is a once tool whose doubts are
// told to the model.
inline std::vector<PinnedTool> all_tools() {
  return {{"pure", EffectClass::pure, OnDoubt::wait, sha256("pure")},
          {"idem", EffectClass::idempotent, OnDoubt::wait, sha256("idem")},
          {"recon", EffectClass::reconcilable, OnDoubt::wait, sha256("recon")},
          {"once", EffectClass::once, OnDoubt::wait, sha256("once")},
          {"tell", EffectClass::once, OnDoubt::tell_model, sha256("tell")}};
}

inline RunStarted a_start() {
  RunStarted start;
  start.run = RunId{"r1"};
  start.name = "test";
  start.node = "main";
  start.model = "scripted";
  start.tools = all_tools();
  start.input = Content("hello");
  return start;
}

inline RunStarted with_limits(const Limits& limits) {
  RunStarted start = a_start();
  start.limits = limits;
  return start;
}

inline RunStarted with_agent_callbacks() {
  RunStarted start = a_start();
  start.agent_callbacks = Presence::present;
  return start;
}

}  // namespace pawl::testing
