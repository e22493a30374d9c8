#include "pawl/filter/secrets/pattern_automaton.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "pawl/filter/secrets/secret_forms.h"
#include "pawl/result.h"

namespace pawl {
namespace {

constexpr std::size_t kWindow = kSecretFormBytesMin;  // bytes that the filter looks at
static_assert(kWindow == sizeof(std::uint64_t));
// Bits of the filter for each pattern: one position in this many is looked at in vain.
constexpr std::size_t kFilterSpread = 64;
constexpr std::size_t kFilterBitsMin = 1U << 12U;
constexpr std::size_t kFilterBitsMax = 1U << 22U;

// A new occurrence may cover several that were found before it.
void add_span(std::vector<PatternSpan>& spans, PatternSpan span) {
  while (!spans.empty() && spans.back().range.end > span.range.begin) {
    const PatternSpan& last = spans.back();
    if (last.longest >= span.longest) {
      span.id = last.id;
      span.longest = last.longest;
    }
    span.range.begin = std::min(span.range.begin, last.range.begin);
    spans.pop_back();
  }
  spans.push_back(span);
}

}  // namespace

PatternAutomaton::PatternAutomaton(std::vector<Pattern> patterns) {
  std::stable_sort(patterns.begin(), patterns.end(),
                   [](const Pattern& a, const Pattern& b) { return a.text < b.text; });
  const auto same = [](const Pattern& a, const Pattern& b) { return a.text == b.text; };
  patterns.erase(std::unique(patterns.begin(), patterns.end(), same), patterns.end());
  const std::size_t bits =
      std::clamp(std::bit_ceil(patterns.size() * kFilterSpread), kFilterBitsMin, kFilterBitsMax);
  shift_ = 64U - static_cast<unsigned>(std::countr_zero(bits));
  starts_.assign(bits / 64, 0);
  for (const Pattern& pattern : patterns) {
    PAWL_ASSERT(pattern.text.size() >= kWindow);
    const std::size_t bit = bit_of(pattern.text.data());
    starts_[bit / 64] |= std::uint64_t{1} << (bit % 64);
    longest_ = std::max(longest_, pattern.text.size());
  }
  grow(patterns);
  link();
}

// Level by level, so that the children of a state stand side by side, in the order of their bytes.
void PatternAutomaton::grow(const std::vector<Pattern>& sorted) {
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  std::vector<Range> below = {{0, sorted.size()}};  // by state: the patterns that pass it
  states_.emplace_back();
  for (std::size_t at = 0; at < states_.size(); ++at) {
    const std::size_t depth = states_[at].depth;
    auto [begin, end] = below[at];
    if (begin < end && depth > 0 && sorted[begin].text.size() == depth) {
      states_[at].length = states_[at].depth;
      states_[at].id = sorted[begin].id;
      ++begin;
    }
    states_[at].first_child = static_cast<StateId>(states_.size());
    while (begin < end) {
      const char byte = sorted[begin].text[depth];
      std::size_t next = begin + 1;
      while (next < end && sorted[next].text[depth] == byte) ++next;
      State state;
      state.depth = static_cast<std::uint32_t>(depth + 1);
      state.byte = static_cast<std::uint8_t>(byte);
      states_.push_back(state);
      below.push_back({begin, next});
      ++states_[at].children;
      begin = next;
    }
  }
  const State& root = states_[kRoot];
  for (StateId at = root.first_child; at < root.first_child + root.children; ++at) {
    first_[states_[at].byte] = at;
  }
}

void PatternAutomaton::link() {
  for (StateId at = 0; at < states_.size(); ++at) {
    const State& state = states_[at];
    for (StateId below = state.first_child; below < state.first_child + state.children; ++below) {
      State& one = states_[below];
      one.fall = at == kRoot ? kRoot : step(state.fall, one.byte);
      if (one.length > 0) continue;
      one.length = states_[one.fall].length;
      one.id = states_[one.fall].id;
    }
  }
}

PatternAutomaton::StateId PatternAutomaton::child(StateId state, std::uint8_t byte) const {
  if (state == kRoot) return first_[byte];
  const State& parent = states_[state];
  for (StateId at = parent.first_child; at < parent.first_child + parent.children; ++at) {
    if (states_[at].byte == byte) return at;
  }
  return kRoot;
}

PatternAutomaton::StateId PatternAutomaton::step(StateId state, std::uint8_t byte) const {
  while (true) {
    const StateId next = child(state, byte);
    if (next != kRoot || state == kRoot) return next;
    state = states_[state].fall;
  }
}

std::size_t PatternAutomaton::bit_of(const char* bytes) const {
  constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15U;
  std::uint64_t window = 0;
  std::memcpy(&window, bytes, kWindow);
  return static_cast<std::size_t>((window * kMix) >> shift_);
}

// The next place where a pattern may begin; the last bytes are all such places.
std::size_t PatternAutomaton::next_start(std::string_view text, std::size_t at) const {
  const std::uint64_t* const starts = starts_.data();
  const char* const bytes = text.data();
  for (; at + kWindow <= text.size(); ++at) {
    const std::size_t bit = bit_of(bytes + at);
    if ((starts[bit / 64] >> (bit % 64) & 1U) != 0) return at;
  }
  return at;
}

PatternSearch PatternAutomaton::search(std::string_view text) const {
  PatternSearch found;
  StateId state = kRoot;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (state == kRoot) at = next_start(text, at);
    if (at >= text.size()) break;
    state = step(state, static_cast<std::uint8_t>(text[at]));
    const State& here = states_[state];
    if (here.length > 0) {
      add_span(found.spans, {{at + 1 - here.length, at + 1}, here.id, here.length});
    }
  }
  found.open = states_[state].depth;
  return found;
}

}  // namespace pawl
