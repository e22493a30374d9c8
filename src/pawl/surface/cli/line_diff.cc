#include "pawl/surface/cli/line_diff.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pawl/gate/approvals/visible.h"

namespace pawl {
namespace {

using Lines = std::vector<std::string_view>;

struct DiffLine {
  char sign = ' ';
  std::string_view text;
  std::size_t number = 0;  // in the new text, from 1
};

// A last line without an end is another line than one with it.
Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.push_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  return lines;
}

// The longest common subsequence of what lies between the equal beginnings and ends.
class Comparison {
 public:
  Comparison(const Lines& before, const Lines& after) : before_(before), after_(after) {
    while (first_ < std::min(before.size(), after.size()) && before[first_] == after[first_]) {
      ++first_;
    }
    while (last_ < std::min(before.size(), after.size()) - first_ &&
           before[before.size() - 1 - last_] == after[after.size() - 1 - last_]) {
      ++last_;
    }
    rows_ = before.size() - first_ - last_;
    columns_ = after.size() - first_ - last_;
    if (rows_ > 0 && columns_ > 0 && rows_ <= kDiffPairsMax / columns_) fill();
  }

  std::vector<DiffLine> lines() const {
    std::vector<DiffLine> all;
    std::size_t row = 0;
    std::size_t column = 0;
    const auto number = [&] { return first_ + column + 1; };
    for (std::size_t i = 0; i < first_; ++i) all.push_back({' ', after_[i], i + 1});
    while (row < rows_ || column < columns_) {
      if (row < rows_ && column < columns_ && !common_.empty() && same(row, column)) {
        all.push_back({' ', after_[first_ + column], number()});
        ++row;
        ++column;
      } else if (row < rows_ && (column == columns_ || takes_old(row, column))) {
        all.push_back({'-', before_[first_ + row++], number()});
      } else {
        all.push_back({'+', after_[first_ + column], number()});
        ++column;
      }
    }
    for (std::size_t i = after_.size() - last_; i < after_.size(); ++i) {
      all.push_back({' ', after_[i], i + 1});
    }
    return all;
  }

 private:
  bool same(std::size_t row, std::size_t column) const {
    return before_[first_ + row] == after_[first_ + column];
  }
  bool takes_old(std::size_t row, std::size_t column) const {
    return common_.empty() || at(row + 1, column) >= at(row, column + 1);
  }
  std::uint32_t at(std::size_t row, std::size_t column) const {
    return common_[row * (columns_ + 1) + column];
  }
  void fill() {
    common_.assign((rows_ + 1) * (columns_ + 1), 0);
    for (std::size_t row = rows_; row-- > 0;) {
      for (std::size_t column = columns_; column-- > 0;) {
        common_[row * (columns_ + 1) + column] =
            same(row, column) ? at(row + 1, column + 1) + 1
                              : std::max(at(row + 1, column), at(row, column + 1));
      }
    }
  }

  const Lines& before_;
  const Lines& after_;
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::vector<std::uint32_t> common_;  // of the rests from (row, column); empty: too many
};

std::string shown(const DiffLine& line) {
  const bool whole = line.text.ends_with('\n');
  const std::string_view text = line.text.substr(0, line.text.size() - (whole ? 1 : 0));
  return std::string(1, line.sign) + visible_line(text) +
         (whole ? "\n" : "  (no line break at the end)\n");
}

}  // namespace

std::string shown_diff(std::string_view before, std::string_view after) {
  const Lines old_lines = lines_of(before);
  const Lines new_lines = lines_of(after);
  const std::vector<DiffLine> lines = Comparison(old_lines, new_lines).lines();
  std::vector<bool> near(lines.size(), false);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].sign == ' ') continue;
    const std::size_t from = i - std::min(i, kDiffContextLines);
    const std::size_t to = std::min(lines.size(), i + kDiffContextLines + 1);
    std::fill(near.begin() + static_cast<std::ptrdiff_t>(from),
              near.begin() + static_cast<std::ptrdiff_t>(to), true);
  }
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!near[i]) continue;
    if (i == 0 || !near[i - 1]) text += "@@ line " + std::to_string(lines[i].number) + "\n";
    text += shown(lines[i]);
  }
  return text;
}

}  // namespace pawl
