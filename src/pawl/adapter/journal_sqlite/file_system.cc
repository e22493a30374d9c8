#include "pawl/adapter/journal_sqlite/file_system.h"

#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace pawl::sqlite {
namespace {

constexpr std::size_t kMountinfoBytesMax = std::size_t{4} << 20U;

struct KnownSystem {
  std::uint64_t magic;
  std::string_view name;
};
// From statfs(2) and the kernel's linux/magic.h.
constexpr std::array<KnownSystem, 14> kNetworked = {{
    {0x6969, "NFS"},
    {0x517B, "SMB"},
    {0xFF534D42, "CIFS"},
    {0xFE534D42, "SMB2"},
    {0x01021997, "9P"},
    {0x5346414F, "AFS"},
    {0x6B414653, "AFS"},
    {0x73757245, "Coda"},
    {0x00C36400, "Ceph"},
    {0x564C, "NCP"},
    {0x0BD00BD0, "Lustre"},
    {0x47504653, "GPFS"},
    {0x19830326, "BeeGFS"},
    {0x786F4256, "VirtualBox's shared folders"},
}};
constexpr std::uint64_t kFuseMagic = 0x65735546;
// FUSE is local, too: only these are known to speak to another machine.
constexpr std::array<std::string_view, 17> kNetworkedFuse = {"sshfs",
                                                             "s3fs",
                                                             "rclone",
                                                             "gcsfuse",
                                                             "goofys",
                                                             "glusterfs",
                                                             "ceph",
                                                             "davfs",
                                                             "curlftpfs",
                                                             "juicefs",
                                                             "mount-s3",
                                                             "mountpoint-s3",
                                                             "blobfuse",
                                                             "blobfuse2",
                                                             "gvfsd-fuse",
                                                             "mfs",
                                                             "google-drive-ocamlfuse"};

std::string network_name(const FileSystem& found) {
  const auto known = std::find_if(kNetworked.begin(), kNetworked.end(), [&](const auto& one) {
    return one.magic == (found.magic & 0xFFFFFFFFU);
  });
  if (known != kNetworked.end()) return std::string(known->name);
  constexpr std::string_view kPrefix = "fuse.";
  if (found.magic != kFuseMagic || !found.type.starts_with(kPrefix)) return "";
  const std::string_view kind = std::string_view(found.type).substr(kPrefix.size());
  const bool remote =
      std::find(kNetworkedFuse.begin(), kNetworkedFuse.end(), kind) != kNetworkedFuse.end();
  return remote ? found.type : "";
}

std::string mountinfo_text() {
  std::ifstream file("/proc/self/mountinfo");
  std::string text(kMountinfoBytesMax, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace

std::string mount_type(const std::string& mountinfo, const std::string& device) {
  std::string type;
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string id;
    std::string parent;
    std::string of;
    words >> id >> parent >> of;
    const std::size_t fields = line.find(" - ");
    if (of != device || fields == std::string::npos) continue;
    std::istringstream(line.substr(fields + 3)) >> type;
  }
  return type;
}

FileSystem file_system_of(const std::string& path) {
  FileSystem found;
  std::filesystem::path at = std::filesystem::path(path);
  struct statfs info{};
  while (::statfs(at.empty() ? "." : at.c_str(), &info) != 0) {
    if (at.empty() || at == at.parent_path()) return found;
    at = at.parent_path();
  }
  found.magic = static_cast<std::uint64_t>(info.f_type);
  struct stat node{};
  if (found.magic != kFuseMagic || ::stat(at.empty() ? "." : at.c_str(), &node) != 0) return found;
  const std::string device =
      std::to_string(major(node.st_dev)) + ":" + std::to_string(minor(node.st_dev));
  found.type = mount_type(mountinfo_text(), device);
  return found;
}

Status check_file_system(const std::string& path, const FileSystem& found) {
  const std::string name = network_name(found);
  if (name.empty()) return ok();
  return Error{ErrorCode::invalid_argument,
               path + " lies on a network file system (" + name +
                   "). SQLite's write-ahead log needs shared memory and locks that such a file "
                   "system does not give every process, and a store would be damaged there. Name "
                   "a directory on a local disk with --data DIR or PAWL_DATA; `pawl backup` and "
                   "`pawl export` can write copies to the network"};
}

}  // namespace pawl::sqlite
