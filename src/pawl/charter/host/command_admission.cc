#include "pawl/charter/host/command_admission.h"

#include <algorithm>

namespace pawl {
namespace {

// What is expected of one file; none: it was not there.
struct ExpectedFile {
  std::string path;
  std::optional<Digest> digest;
};

Status admit(const FileTrust& trust, const ExpectedFile& expected) {
  const auto now = read_host_file(expected.path);
  if (!now && now.error().code == ErrorCode::not_found) return ok();  // the start fails by itself
  if (!now) return now.error();
  if (expected.digest == now->digest) return ok();
  PAWL_TRY(const auto untrusted, trust.untrusted({*now}));
  if (untrusted.empty()) return ok();
  return Error{ErrorCode::conflict, "the command was not started: " + describe(untrusted.front())};
}

}  // namespace

std::function<Status()> admitting(std::shared_ptr<const FileTrust> trust,
                                  const std::vector<HostFile>& files,
                                  const std::vector<std::string>& paths,
                                  std::function<Status()> before) {
  if (!trust || paths.empty()) return before;
  std::vector<ExpectedFile> expected;
  for (const std::string& path : paths) {
    const auto read = std::ranges::find(files, path, &HostFile::path);
    expected.push_back({path, read == files.end() ? std::nullopt : std::optional(read->digest)});
  }
  return [trust = std::move(trust), expected = std::move(expected),
          before = std::move(before)]() -> Status {
    if (before) PAWL_CHECK(before());
    for (const ExpectedFile& one : expected) PAWL_CHECK(admit(*trust, one));
    return ok();
  };
}

}  // namespace pawl
