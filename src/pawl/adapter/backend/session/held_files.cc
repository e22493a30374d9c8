#include "pawl/adapter/backend/session/held_files.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "pawl/base/descriptor.h"

namespace pawl::backend {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kHeldBlockBytes = 512;  // of st_blocks, whatever the file system's are
constexpr int kSameFiles = 2;                   // KCMP_FILES

bool is_gone(const std::error_code& fault) {
  return fault == std::errc::no_such_file_or_directory || fault == std::errc::no_such_process;
}

// "08:01" of /proc/PID/maps.
dev_t device_in(std::string_view text) {
  unsigned major_number = 0;
  unsigned minor_number = 0;
  const std::size_t colon = std::min(text.find(':'), text.size());
  std::from_chars(text.data(), text.data() + colon, major_number, 16);
  if (colon < text.size()) {
    std::from_chars(text.data() + colon + 1, text.data() + text.size(), minor_number, 16);
  }
  return makedev(major_number, minor_number);
}

class Search {
 public:
  explicit Search(dev_t device) : device_(device) {}

  void look_at(pid_t process) {
    std::error_code fault;
    const std::string path = "/proc/" + std::to_string(process) + "/task";
    fs::directory_iterator task(path, fault);
    // A thread may have descriptors of its own, and the first may have ended before the others.
    for (; !fault && task != fs::directory_iterator(); task.increment(fault)) {
      const std::string place = task->path();
      const int number = std::atoi(task->path().filename().c_str());
      const bool first = number == process;
      if (!first && ::syscall(SYS_kcmp, process, number, kSameFiles, 0, 0) == 0) continue;
      look_at_descriptors(place);
      look_at_mappings(place);
      add_file(place + "/exe");
    }
  }

  HeldFiles found() const { return found_; }

 private:
  bool may_look() {
    if (++looks_ > kHeldLooksMax) found_.complete = false;
    return looks_ <= kHeldLooksMax;
  }

  // Whether it could be looked at.
  bool add_file(const std::string& path) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return false;
    if (!S_ISREG(status.st_mode) || status.st_nlink != 0 || status.st_dev != device_) return true;
    if (seen_.insert(status.st_ino).second) {
      found_.bytes += static_cast<std::uint64_t>(status.st_blocks) * kHeldBlockBytes;
    }
    return true;
  }

  void look_at_descriptors(const std::string& place) {
    std::error_code fault;
    fs::directory_iterator at(place + "/fd", fault);
    for (; !fault && at != fs::directory_iterator() && may_look(); at.increment(fault)) {
      const fs::path& path = at->path();
      std::error_code none;
      if (fs::is_socket(path, none)) {
        look_into_socket(place + "/fdinfo/" + path.filename().string());
      } else {
        add_file(path);
      }
    }
    if (fault && !is_gone(fault)) found_.complete = false;
  }

  void look_into_socket(const std::string& path) {
    std::ifstream file(path);
    std::string word;
    std::uint64_t value = 0;
    while (file >> word) {
      if (word == "scm_fds:" && file >> value && value > 0) found_.complete = false;
    }
  }

  // "7f00-7f10 rw-s 00000000 08:01 1234  /a/file (deleted)". Only root may follow a mapping to its
  // file; how large that is nobody else can say.
  void look_at_mappings(const std::string& place) {
    std::ifstream file(place + "/maps");
    for (std::string line; std::getline(file, line) && may_look();) {
      if (!line.ends_with(" (deleted)")) continue;
      std::istringstream fields(line);
      std::string range;
      std::string rights;
      std::string offset;
      std::string device;
      ino_t number = 0;
      fields >> range >> rights >> offset >> device >> number;
      if (device_in(device) != device_ || seen_.contains(number)) continue;
      if (!add_file(place.substr(0, place.find("/task")) + "/map_files/" + range)) {
        found_.complete = false;
      }
    }
  }

  dev_t device_;
  HeldFiles found_;
  std::set<ino_t> seen_;
  std::size_t looks_ = 0;
};

}  // namespace

HeldFiles find_held_files(const std::vector<pid_t>& processes, dev_t device) {
  Search search(device);
  for (const pid_t process : processes) search.look_at(process);
  return search.found();
}

dev_t device_of_memory() {
  static const dev_t device = [] {
    struct stat status{};
    const Descriptor file(::memfd_create("pawl-device", MFD_CLOEXEC));
    return file && ::fstat(file.number(), &status) == 0 ? status.st_dev : dev_t{0};
  }();
  return device;
}

}  // namespace pawl::backend
