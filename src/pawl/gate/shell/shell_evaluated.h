// Text that the shell expands once more although it is quoted: subscripts, numbers and prompts.
// `let 'a[$(x)]'`, `declare -i n='a[$(x)]'` and PS4='$(x)' run x.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pawl/gate/shell/shell_reader.h"

namespace pawl {

struct Substitutions {
  std::vector<std::string> texts = {};                             // inside $(…) and `…`
  enum class End : std::uint8_t { whole, open } end = End::whole;  // open: one has no end here
};

// In the bytes that a word stands for.
Substitutions substitutions_in(std::string_view value);

// A builtin that takes names with subscripts, or numbers: let, declare, test, read, …
bool evaluates_its_words(std::string_view program);

// NAME=value or NAME+=value.
bool is_name_and_value(std::string_view word);

// What one assignment begins and another ends: a='x[$'; a+='(git push)]'. Or ${a@P}, which expands
// what a variable holds. Empty: nothing of that.
std::string evaluated_later(const ShellReading& reading);

}  // namespace pawl
