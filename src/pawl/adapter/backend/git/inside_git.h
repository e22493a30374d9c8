// Git as tools have it: run in their sandbox, on their own git directory. What it says is somebody
// else's word.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl::git {

inline constexpr std::int64_t kInsideTimeMaxMs = 20'000;

struct InsideCall {
  std::vector<std::string> argv;
  std::string input;
  std::function<bool(std::string_view)> take;  // output; false: it is too much, and ends
};
// What it exits with. An Error: it could not be started, or was ended.
using RunInside = std::function<Result<int>(const InsideCall&)>;

class InsideGit {
 public:
  InsideGit(const RunInside& run, std::string work_tree, std::string directory)
      : run_(run), work_tree_(std::move(work_tree)), directory_(std::move(directory)) {}

  // The text of a shell; what it prints, without errors. An Error: it failed.
  Result<std::string> script(std::string_view text, std::string input, std::size_t bytes_max) const;
  Status stream(std::string_view text, std::string input,
                const std::function<bool(std::string_view)>& take) const;

 private:
  const RunInside& run_;
  std::string work_tree_;
  std::string directory_;
};

}  // namespace pawl::git
