#include "pawl/tools/staging.h"

#include <algorithm>
#include <set>

#include "pawl/base/files.h"
#include "pawl/base/sealed_text.h"
#include "pawl/base/thrown.h"
#include "pawl/base/utf8.h"

namespace pawl {
namespace {

constexpr std::string_view kDirectory = "inputs/";
constexpr std::size_t kDigestsBytesMax = kInputFilesMax * (kInputNameBytesMax + 70) + 200;

// report.pdf, report-2.pdf, …
std::string unused_name(const std::string& name, const std::set<std::string>& taken) {
  if (!taken.contains(name)) return name;
  const std::size_t dot = name.rfind('.');
  const std::size_t stem = dot == std::string::npos || dot == 0 ? name.size() : dot;
  for (std::size_t number = 2;; ++number) {  // ends: at most kInputFilesMax names are taken
    std::string next = name.substr(0, stem) + "-" + std::to_string(number) + name.substr(stem);
    if (!taken.contains(next)) return next;
  }
}

std::string safe_media_type(const std::string& text) {
  constexpr std::size_t kBytesMax = 100;
  const bool plain = !text.empty() && text.size() <= kBytesMax &&
                     std::all_of(text.begin(), text.end(), [](char letter) {
                       return (letter >= 'a' && letter <= 'z') ||
                              (letter >= 'A' && letter <= 'Z') ||
                              (letter >= '0' && letter <= '9') ||
                              std::string_view("/+.-_").find(letter) != std::string_view::npos;
                     });
  return plain ? text : "application/octet-stream";
}

Result<std::string> bytes_of(InputFile& file, const InputFileSource& source) {
  if (file.bytes) return *std::move(file.bytes);
  if (!source) return Error{ErrorCode::not_found, "nobody has its bytes"};
  try {
    return source(file.id);
  } catch (...) {  // The host's own function threw: this file cannot be had.
    return Error{ErrorCode::unavailable, what_was_thrown()};
  }
}

class Stager : public std::enable_shared_from_this<Stager> {
 public:
  Stager(std::shared_ptr<BackendSession> session, Loop& loop, std::vector<InputFile> files,
         InputFileSource source, std::function<void(Staging)> done)
      : session_(std::move(session)),
        loop_(loop),
        files_(std::move(files)),
        source_(std::move(source)),
        done_(std::move(done)) {}

  // The next file in a turn of the loop of its own: never from inside the call, and no recursion.
  void go_on() {
    loop_.post([weak = weak_from_this()] {
      if (const auto stager = weak.lock()) stager->take_next();
    });
  }

  void abort() {
    for (; at_ < files_.size(); ++at_) skip(files_[at_], "stopped before it was written");
    if (operation_) operation_->abort();
    if (!operation_) go_on();
  }

 private:
  void skip(const InputFile& file, std::string why) {
    staging_.skipped.push_back({file.id, safe_input_name(file.name), std::move(why)});
  }

  void take_next() {
    if (!done_ || operation_) return;
    if (at_ >= files_.size()) return std::exchange(done_, {})(std::move(staging_));
    InputFile& file = files_[at_++];
    auto bytes = at_ > kInputFilesMax
                     ? Error{ErrorCode::limit_exceeded,
                             "more than " + std::to_string(kInputFilesMax) + " files"}
                     : bytes_of(file, source_);
    if (!bytes) {
      skip(file, bytes.error().message);
    } else if (bytes->size() > kInputFileBytesMax) {
      skip(file, "larger than " + std::to_string(kInputFileBytesMax) + " bytes");
    } else {
      return write(file, *std::move(bytes));
    }
    go_on();
  }

  void write(const InputFile& file, std::string bytes) {
    const std::string name = unused_name(safe_input_name(file.name), taken_);
    taken_.insert(name);
    StagedFile staged{file.id, std::string(kDirectory) + name, safe_media_type(file.media_type),
                      bytes.size(), sha256(bytes)};
    operation_ = session_->create_file(
        {staged.path, std::move(bytes), FileWrite::Overwrite::yes},
        [weak = weak_from_this(), staged, &file](const BackendOutcome& outcome) {
          if (const auto stager = weak.lock()) stager->on_written(staged, file, outcome);
        });
  }

  void on_written(const StagedFile& staged, const InputFile& file, const BackendOutcome& outcome) {
    if (outcome.kind == BackendOutcome::Kind::ok) {
      staging_.staged.push_back(staged);
    } else {
      skip(file, outcome.output);
    }
    // It is inside its own callback: it goes when the loop comes round.
    loop_.post([keep = std::shared_ptr<Operation>(std::move(operation_))] {});
    go_on();
  }

  std::shared_ptr<BackendSession> session_;
  Loop& loop_;
  std::vector<InputFile> files_;
  InputFileSource source_;
  std::function<void(Staging)> done_;
  std::unique_ptr<Operation> operation_;
  std::size_t at_ = 0;
  std::set<std::string> taken_;
  Staging staging_;
};

class StagingOperation : public Operation {
 public:
  explicit StagingOperation(std::shared_ptr<Stager> stager) : stager_(std::move(stager)) {}
  void abort() override { stager_->abort(); }

 private:
  std::shared_ptr<Stager> stager_;
};

// Text of others on one line of the prompt.
std::string one_line(std::string_view text) {
  constexpr std::size_t kBytesMax = 300;
  std::string line = to_valid_utf8(text.substr(0, kBytesMax));
  std::replace_if(
      line.begin(), line.end(),
      [](char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f; }, ' ');
  return line;
}

}  // namespace

std::string safe_input_name(std::string_view name) {
  const std::size_t slash = name.find_last_of("/\\");
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  std::string safe;
  while (!name.empty() && safe.size() < kInputNameBytesMax) {
    const Utf8Step step = first_utf8(name);
    const bool odd = !step.valid || step.code_point < 0x20 ||
                     (step.code_point >= 0x7f && step.code_point < 0xa0) ||
                     (step.code_point >= 0x200b && step.code_point <= 0x200f) ||
                     (step.code_point >= 0x2028 && step.code_point <= 0x202e) ||
                     (step.code_point >= 0x2060 && step.code_point <= 0x206f) ||
                     step.code_point == 0xfeff;
    safe += odd ? std::string_view("_") : name.substr(0, step.bytes);
    name.remove_prefix(step.bytes);
  }
  const std::size_t first = safe.find_first_not_of(". ");
  if (first == std::string::npos) return "file";
  return safe.substr(first, safe.find_last_not_of(". ") - first + 1);
}

std::unique_ptr<Operation> stage_inputs(std::shared_ptr<BackendSession> session, Loop& loop,
                                        std::vector<InputFile> files, InputFileSource source,
                                        std::function<void(Staging)> done) {
  auto stager = std::make_shared<Stager>(std::move(session), loop, std::move(files),
                                         std::move(source), std::move(done));
  stager->go_on();
  return std::make_unique<StagingOperation>(std::move(stager));
}

Staging plan_inputs(const std::vector<InputFile>& files, const std::string& directory) {
  Staging plan;
  std::set<std::string> taken;
  for (const InputFile& file : files) {
    std::string why;
    if (plan.staged.size() == kInputFilesMax) {
      why = "more than " + std::to_string(kInputFilesMax) + " files";
    } else if (!file.bytes || file.bytes->size() > kInputFileBytesMax) {
      why = "larger than " + std::to_string(kInputFileBytesMax) + " bytes";
    }
    if (!why.empty()) {
      plan.skipped.push_back({file.id, safe_input_name(file.name), std::move(why)});
      continue;
    }
    const std::string name = unused_name(safe_input_name(file.name), taken);
    taken.insert(name);
    plan.staged.push_back({file.id, directory + "/" + name, safe_media_type(file.media_type),
                           file.bytes->size(), sha256(*file.bytes)});
  }
  return plan;
}

std::string input_digests(const Staging& plan) {
  std::string text;
  for (const StagedFile& file : plan.staged) {
    text += to_hex(file.sha256) + " " + file.path.substr(file.path.rfind('/') + 1) + "\n";
  }
  return sealed(text);
}

Status check_inputs(const std::string& directory) {
  const auto damaged = [&directory](std::string_view name) {
    return Error{ErrorCode::corrupt,
                 directory + "/" + std::string(name) +
                     " is not what the run came with any more (put it back, from a backup say)"};
  };
  const auto kept =
      read_regular_file(directory + "/" + std::string(kInputDigestsName), kDigestsBytesMax);
  const auto digests = kept ? unsealed(*kept) : std::nullopt;
  if (!digests) return damaged(kInputDigestsName);
  for (std::string_view rest = *digests; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::string_view digest = line.substr(0, line.find(' '));
    const std::string_view name = line.substr(std::min(line.size(), digest.size() + 1));
    const auto bytes = read_regular_file(directory + "/" + std::string(name), kInputFileBytesMax);
    if (!bytes || to_hex(sha256(*bytes)) != digest) return damaged(name);
  }
  return ok();
}

std::string attached_files_block(const Staging& staging) {
  if (staging.staged.empty() && staging.skipped.empty()) return {};
  std::string block = "[ATTACHED FILES]\n";
  for (const StagedFile& file : staging.staged) {
    block += "- " + file.path + " (" + file.media_type + ", " + std::to_string(file.size) +
             " bytes, sha256 " + to_hex(file.sha256) + ")\n";
  }
  const std::size_t named = std::min(staging.skipped.size(), kInputFilesMax);
  for (std::size_t i = 0; i < named; ++i) {
    const SkippedFile& file = staging.skipped[i];
    block += "- not available: " + file.name + ": " + one_line(file.why) + "\n";
  }
  if (named < staging.skipped.size()) {
    block += "- and " + std::to_string(staging.skipped.size() - named) + " more, not available\n";
  }
  return block;
}

}  // namespace pawl
