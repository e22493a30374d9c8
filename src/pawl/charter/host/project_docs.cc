#include "pawl/charter/host/project_docs.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "pawl/base/files.h"
#include "pawl/base/utf8.h"

namespace pawl {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReadBytesMax = std::size_t{1} << 20U;  // longer ones are not opened
constexpr std::array<const char*, 3> kNames = {"AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md"};

// From the root down.
std::vector<fs::path> chain_to(const fs::path& directory) {
  std::error_code ignored;  // What cannot be looked at is no root.
  std::vector<fs::path> chain;
  for (fs::path at = directory; chain.size() < kProjectDepthMax; at = at.parent_path()) {
    chain.push_back(at);
    if (fs::exists(at / ".git", ignored)) {
      std::reverse(chain.begin(), chain.end());
      return chain;
    }
    if (at == at.parent_path()) break;
  }
  return {directory};
}

bool lies_within(const fs::path& path, const fs::path& root) {
  return std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
}

// At a line's end, and never inside of a character.
void cut(std::string& text, std::size_t bytes_max) {
  const std::size_t line = text.rfind('\n', bytes_max);
  std::size_t end = line == std::string::npos ? bytes_max : line;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  text.resize(end);
}

class DocsReader {
 public:
  explicit DocsReader(const std::vector<fs::path>& chain) : root_(chain.front()) {
    for (auto directory = chain.rbegin(); directory != chain.rend(); ++directory) {
      for (auto name = kNames.rbegin(); name != kNames.rend(); ++name) take(*directory / *name);
    }
  }
  ProjectDocs docs() && {
    std::reverse(found_.begin(), found_.end());
    for (const std::string& one : found_) docs_.text += (docs_.text.empty() ? "" : "\n\n") + one;
    return std::move(docs_);
  }

 private:
  void take(const fs::path& path) {
    std::error_code missing;
    const fs::path real = fs::canonical(path, missing);
    if (missing || !fs::is_regular_file(real, missing)) return;
    const std::string name = path.lexically_relative(root_).string();
    if (!lies_within(real, root_)) return note(name, "leads out of the project");
    if (!seen_.insert(real.string()).second) return;
    auto text = read_regular_file(real.string(), kReadBytesMax);
    if (!text) return note(name, text.error().message);
    if (!is_valid_utf8(*text)) return note(name, "is not UTF-8");
    if (left_ == 0)
      return note(name, "comes after the other files of the project have filled " +
                            std::to_string(kProjectDocsBytesMax) + " bytes");
    add(name, *std::move(text));
  }

  void add(const std::string& name, std::string text) {
    const std::size_t bytes_max = std::min(kProjectDocBytesMax, left_);
    if (text.size() > bytes_max) {
      const std::size_t whole = text.size();
      cut(text, bytes_max);
      docs_.notes.push_back(name + " is cut: the first " + std::to_string(text.size()) + " of " +
                            std::to_string(whole) + " bytes are what the model is told");
      text += "\n[cut by Pawl: " + std::to_string(whole - text.size()) + " bytes are left out]";
      left_ -= bytes_max;
    } else {
      left_ -= text.size();
    }
    while (text.ends_with('\n')) text.pop_back();
    if (!text.empty()) found_.push_back("# From the project's file " + name + "\n\n" + text);
  }

  void note(const std::string& name, const std::string& why) {
    docs_.notes.push_back("the model is not told what is in " + name + ": it " + why);
  }

  const fs::path root_;
  std::size_t left_ = kProjectDocsBytesMax;
  std::set<std::string> seen_;
  std::vector<std::string> found_;  // the nearest first
  ProjectDocs docs_;
};

}  // namespace

ProjectDocs read_project_docs(const std::string& directory) {
  std::error_code missing;
  const fs::path real = fs::canonical(directory.empty() ? "." : directory, missing);
  if (missing) return {};
  return DocsReader(chain_to(real)).docs();
}

}  // namespace pawl
