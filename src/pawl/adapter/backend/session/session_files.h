// What a session needs of files: the host's side of view, create_file and str_replace, and what a
// command has made or changed. RootedFiles (../files) is the one there is; tests have their own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pawl/backend.h"
#include "pawl/result.h"

namespace pawl::backend {

class SessionFiles {
 public:
  virtual ~SessionFiles() = default;
  virtual BackendOutcome view(const std::string& path, std::optional<ViewRange> range,
                              std::uint64_t output_bytes_max) = 0;
  virtual BackendOutcome create_file(const FileWrite& write) = 0;
  virtual BackendOutcome str_replace(const StrReplace& edit) = 0;
  virtual BackendOutcome file_request(const FileRequest& request,
                                      std::uint64_t output_bytes_max) = 0;
  // Looks at all files, to be compared with by changes().
  virtual void note() = 0;
  // The next look may rely on nothing: a process that began earlier may have written.
  virtual void must_look() {}
  // A number of the last look, if no name was made or changed since then.
  virtual std::optional<std::uint64_t> quiet_look() { return std::nullopt; }
  virtual std::vector<FileRef> changes() = 0;
  // Absolute, as changes() has seen them: protected names that hold at any depth.
  virtual std::vector<std::string> protected_found() const { return {}; }
};

using OpenFiles = std::function<Result<std::unique_ptr<SessionFiles>>(const ExecutionContext&)>;

// Over a class with the interface of RootedFiles.
template <class Rooted>
class RootedSessionFiles final : public SessionFiles {
 public:
  explicit RootedSessionFiles(std::shared_ptr<Rooted> files) : files_(std::move(files)) {}
  BackendOutcome view(const std::string& path, std::optional<ViewRange> range,
                      std::uint64_t output_bytes_max) override {
    return files_->view(path, range, output_bytes_max);
  }
  BackendOutcome create_file(const FileWrite& write) override { return files_->create_file(write); }
  BackendOutcome str_replace(const StrReplace& edit) override { return files_->str_replace(edit); }
  BackendOutcome file_request(const FileRequest& request, std::uint64_t output_bytes_max) override {
    if constexpr (requires { files_->file_request(request, output_bytes_max); }) {
      return files_->file_request(request, output_bytes_max);
    }
    return {};
  }
  void note() override { before_ = files_->look(); }
  void must_look() override { files_->must_look(); }
  std::optional<std::uint64_t> quiet_look() override { return files_->quiet_scan(); }
  std::vector<FileRef> changes() override {
    after_ = files_->look();
    if (after_ == before_) return {};
    return Rooted::changed_between(*before_, *after_);
  }
  std::vector<std::string> protected_found() const override {
    return after_ ? after_->named : std::vector<std::string>();
  }

 private:
  std::shared_ptr<Rooted> files_;
  std::shared_ptr<const typename Rooted::Scan> before_;
  std::shared_ptr<const typename Rooted::Scan> after_;
};

template <class Rooted, class Roots>
OpenFiles open_rooted_files() {
  return [](const ExecutionContext& context) -> Result<std::unique_ptr<SessionFiles>> {
    Roots roots;
    roots.working_directory = context.working_directory;
    roots.write_roots = context.write_roots;
    roots.read_roots = context.read_roots;
    roots.protected_names = context.protected_names;
    if constexpr (requires { roots.hidden_names; }) {
      roots.hidden_names = context.hidden_names;
      roots.protected_places = context.protected_places;
      roots.deny_roots = context.deny_roots;
      roots.links = Roots::Links::refused;
      if (!context.taken_directory.empty()) {
        roots.scratch_directory = context.taken_directory + "/writing";
      }
    }
    if constexpr (requires { roots.artifact_directory; }) {
      roots.artifact_directory = context.artifact_directory;
    }
    PAWL_TRY(auto files, Rooted::open(roots));
    return std::unique_ptr<SessionFiles>(
        std::make_unique<RootedSessionFiles<Rooted>>(std::move(files)));
  };
}

}  // namespace pawl::backend
