// Finds any of many patterns in one pass: the automaton of Aho and Corasick, which never looks at a
// byte of the text twice, behind a filter that skips what no pattern begins with.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/filter/secrets/text_view.h"

namespace pawl {

struct Pattern {
  std::string text;  // of kSecretFormBytesMin bytes at least
  std::uint32_t id = 0;
};

// A stretch of text that one or more overlapping occurrences cover; `id` is that of the longest.
struct PatternSpan {
  TextRange range;
  std::uint32_t id = 0;
  std::size_t longest = 0;  // bytes of that pattern

  friend bool operator==(const PatternSpan&, const PatternSpan&) = default;
};

struct PatternSearch {
  std::vector<PatternSpan> spans;  // in order, and apart
  std::size_t open = 0;            // how many bytes at the end may be the beginning of a pattern
};

// Immutable: searches may run in any number of threads.
class PatternAutomaton {
 public:
  // Of patterns with the same text the first counts.
  explicit PatternAutomaton(std::vector<Pattern> patterns);

  PatternSearch search(std::string_view text) const;
  std::size_t longest() const { return longest_; }
  std::size_t states() const { return states_.size(); }

 private:
  using StateId = std::uint32_t;
  static constexpr StateId kRoot = 0;
  struct State {
    StateId first_child = 0;
    StateId fall = kRoot;      // where the search goes on when no child fits
    std::uint32_t depth = 0;   // bytes from the root
    std::uint32_t length = 0;  // of the longest pattern that ends here; 0: none does
    std::uint32_t id = 0;      // its id
    std::uint16_t children = 0;
    std::uint8_t byte = 0;
  };

  void grow(const std::vector<Pattern>& sorted);
  void link();
  StateId child(StateId state, std::uint8_t byte) const;
  StateId step(StateId state, std::uint8_t byte) const;
  std::size_t next_start(std::string_view text, std::size_t at) const;
  std::size_t bit_of(const char* bytes) const;

  std::vector<State> states_;
  std::array<StateId, 256> first_{};   // children of the root, by their byte
  std::vector<std::uint64_t> starts_;  // bits for hashes of the first bytes of patterns
  unsigned shift_ = 0;
  std::size_t longest_ = 0;
};

}  // namespace pawl
