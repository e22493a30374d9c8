#include "pawl/adapter/backend/git/inside_git.h"

#include <utility>

namespace pawl::git {
namespace {

constexpr std::string_view kBefore =
    "cd \"$1\" && export GIT_WORK_TREE=\"$1\" GIT_DIR=\"$2\" GIT_OPTIONAL_LOCKS=0 "
    "GIT_NO_REPLACE_OBJECTS=1 GIT_TERMINAL_PROMPT=0 GIT_CONFIG_GLOBAL=/dev/null && "
    "exec 2>/dev/null && ";

}  // namespace

Status InsideGit::stream(std::string_view text, std::string input,
                         const std::function<bool(std::string_view)>& take) const {
  InsideCall call{
      {"/bin/sh", "-c", std::string(kBefore) + std::string(text), "sh", work_tree_, directory_},
      std::move(input),
      take};
  PAWL_TRY(const int code, run_(call));
  if (code == 0) return ok();
  return Error{ErrorCode::conflict,
               "git does not work on " + directory_ + " any more (is it damaged?)"};
}

Result<std::string> InsideGit::script(std::string_view text, std::string input,
                                      std::size_t bytes_max) const {
  std::string printed;
  PAWL_CHECK(stream(text, std::move(input), [&](std::string_view piece) {
    printed += piece;
    return printed.size() <= bytes_max;
  }));
  if (printed.size() <= bytes_max) return printed;
  return Error{ErrorCode::limit_exceeded, "git says too much about " + directory_};
}

}  // namespace pawl::git
