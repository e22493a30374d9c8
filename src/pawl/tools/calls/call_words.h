// The words of a call that may be names of files, in every way in which a program could be given
// them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "pawl/json.h"

namespace pawl {

// Words of a call that are looked up as files. A call of more of them can be approved, but never
// counts as the one that was approved.
inline constexpr std::size_t kWordsLookedUpMax = 65'536;
// Letters of short options before a name that is attached to them, as in -fprogram.awk.
inline constexpr std::size_t kOptionLettersMax = 4;

// In the order in which they stand, each once.
class CallWords {
 public:
  // As it is, without options before it (-fa.awk, @a), and its parts (a:b, {a,b}).
  void add(std::string_view word);
  // A whole text; its pieces; those that are left when quotes and backslashes are taken away.
  void add_text(const std::string& text);
  // Every string.
  void add_all(const Json& json);

  const std::vector<std::string>& all() const { return words_; }
  bool too_many() const { return too_many_; }

 private:
  void add_one(std::string_view word);

  std::vector<std::string> words_;
  std::unordered_set<std::string> seen_;
  bool too_many_ = false;
};

}  // namespace pawl
