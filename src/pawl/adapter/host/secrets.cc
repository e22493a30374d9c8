#include "pawl/adapter/host/secrets.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>

#include "pawl/adapter/host/secret_command.h"
#include "pawl/base/describe_errno.h"

namespace pawl {
namespace {

// One line, without its end.
Result<std::string> checked(std::string text, const std::string& origin) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  if (text.empty()) return Error{ErrorCode::not_found, "there is nothing in the " + origin};
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::any_of(text.begin(), text.end(), is_control)) {
    return Error{ErrorCode::invalid_argument, "the " + origin + " has more than one line"};
  }
  return text;
}

// Every value that leaves is known to the filter first.
class LearnedSecret : public Secret {
 public:
  explicit LearnedSecret(const SecretSources& sources)
      : learn_(sources.learn), warn_(sources.warn) {}
  Result<std::string> reveal() const override {
    PAWL_TRY(std::string raw, find());
    PAWL_TRY(std::string value, checked(std::move(raw), origin()));
    if (!learn_) return value;
    const std::string_view advice = learn_(name(), value);
    if (!advice.empty() && !warned_.exchange(true) && warn_) {
      warn_("the " + origin() + ": " + std::string(advice));
    }
    return value;
  }

 private:
  virtual Result<std::string> find() const = 0;
  virtual std::string name() const = 0;  // in handles
  std::function<std::string_view(const std::string&, const std::string&)> learn_;
  std::function<void(const std::string&)> warn_;
  mutable std::atomic<bool> warned_ = false;
};

class EnvironmentSecret final : public LearnedSecret {
 public:
  EnvironmentSecret(std::vector<std::string> names, const SecretSources& sources)
      : LearnedSecret(sources), names_(std::move(names)), environment_(sources.environment) {}
  std::string origin() const override { return "environment variable " + given(); }

 private:
  std::string given() const {
    for (const std::string& name : names_) {
      if (environment_(name)) return name;
    }
    return names_.front();
  }
  Result<std::string> find() const override {
    if (auto value = environment_(given())) return *std::move(value);
    return Error{ErrorCode::not_found, "set " + names_.front()};
  }

  std::string name() const override { return given(); }

  std::vector<std::string> names_;
  EnvironmentReader environment_;
};

Result<std::string> read_private_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) {
    return Error{ErrorCode::not_found, path + " cannot be read: " + describe_errno(errno)};
  }
  struct stat info{};
  std::string text(kSecretBytesMax + 1, '\0');
  const bool known = ::fstat(fd, &info) == 0;
  const ssize_t count = known && S_ISREG(info.st_mode) ? ::read(fd, text.data(), text.size()) : -1;
  ::close(fd);
  if (count < 0) return Error{ErrorCode::invalid_argument, path + " is not a file"};
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Error{ErrorCode::invalid_argument,
                 "others may read " + path + ", which holds a secret: chmod 600 it"};
  }
  text.resize(static_cast<std::size_t>(count));
  if (text.size() <= kSecretBytesMax) return text;
  return Error{ErrorCode::limit_exceeded, path + " is too long for a secret"};
}

class FileSecret final : public LearnedSecret {
 public:
  FileSecret(std::string path, const std::string& directory, const SecretSources& sources)
      : LearnedSecret(sources), path_(std::move(path)) {
    const auto home = path_.starts_with("~/") ? sources.environment("HOME") : std::nullopt;
    const std::filesystem::path base(home ? *home : directory);
    path_ = (base / (home ? path_.substr(2) : path_)).lexically_normal().string();
  }
  std::string origin() const override { return "file " + path_; }

 private:
  Result<std::string> find() const override { return read_private_file(path_); }
  std::string name() const override { return std::filesystem::path(path_).filename().string(); }
  std::string path_;
};

class CommandSecret final : public LearnedSecret {
 public:
  CommandSecret(std::vector<std::string> arguments, const SecretSources& sources)
      : LearnedSecret(sources), arguments_(std::move(arguments)), admit_(sources.admit) {}
  std::string origin() const override { return "command " + arguments_.front(); }

 private:
  using Clock = std::chrono::steady_clock;
  Result<std::string> find() const override {
    const auto now = Clock::now();
    if (now < kept_until_) return kept_;
    if (admit_) PAWL_CHECK(admit_(arguments_));
    PAWL_TRY(kept_, output_of(arguments_, {kSecretCommandMaxMs, kSecretBytesMax}));
    kept_until_ = now + std::chrono::milliseconds(kSecretCommandKeptMs);
    return kept_;
  }
  std::string name() const override {
    return std::filesystem::path(arguments_.front()).filename().string();
  }

  std::vector<std::string> arguments_;
  std::function<Status(const std::vector<std::string>&)> admit_;
  mutable std::string kept_;
  mutable Clock::time_point kept_until_;
};

}  // namespace

SecretHandle HostSecrets::find(const SecretReference& reference,
                               const std::string& directory) const {
  switch (reference.kind) {
    case SecretReference::Kind::environment:
      return find_variable({reference.name});
    case SecretReference::Kind::file:
      return std::make_shared<FileSecret>(reference.name, directory, sources_);
    case SecretReference::Kind::command:
      return std::make_shared<CommandSecret>(reference.arguments, sources_);
  }
  return nullptr;
}

SecretHandle HostSecrets::find_variable(const std::vector<std::string>& variables) const {
  return std::make_shared<EnvironmentSecret>(variables, sources_);
}

}  // namespace pawl
