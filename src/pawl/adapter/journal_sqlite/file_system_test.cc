#include "pawl/adapter/journal_sqlite/file_system.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>

#include "pawl/adapter/journal_sqlite/journal_sqlite.h"
#include "tests/support/temp_directory.h"
#include "tests/support/test_loop.h"

namespace pawl::sqlite {
namespace {

TEST_CASE("network file systems are refused by name, with the reason and the remedy") {
  const auto refusal = [](std::uint64_t magic, std::string type = "") {
    const Status checked = check_file_system("/data", {magic, std::move(type)});
    return checked ? "" : checked.error().message;
  };
  CHECK(refusal(0x6969).find("(NFS)") != std::string::npos);
  CHECK(refusal(0x6969).find("locks") != std::string::npos);
  CHECK(refusal(0x6969).find("--data DIR") != std::string::npos);
  CHECK(refusal(0xFF534D42).find("(CIFS)") != std::string::npos);
  CHECK(refusal(0xFFFFFFFFFE534D42).find("(SMB2)") != std::string::npos);  // a signed 32 bits
  CHECK(refusal(0x01021997).find("(9P)") != std::string::npos);
  CHECK(refusal(0x00C36400).find("(Ceph)") != std::string::npos);
  CHECK(refusal(0x5346414F).find("(AFS)") != std::string::npos);
  CHECK(refusal(0x65735546, "fuse.sshfs").find("(fuse.sshfs)") != std::string::npos);
  CHECK(refusal(0x65735546, "fuse.fuse-overlayfs").empty());
  CHECK(refusal(0x65735546, "virtiofs").empty());
  CHECK(refusal(0x65735546).empty());
  CHECK(refusal(0xEF53).empty());      // ext4
  CHECK(refusal(0x01021994).empty());  // tmpfs
  CHECK(refusal(0x794C7630).empty());  // overlayfs
  CHECK(refusal(0x9123683E).empty());  // btrfs
}

TEST_CASE("the type of a mount is the one that was mounted last") {
  const std::string text =
      "36 35 0:42 / /mnt rw,noatime shared:1 - fuse.sshfs me@host:/ rw\n"
      "37 35 0:43 / /srv rw - ext4 /dev/sda1 rw\n"
      "38 35 0:42 / /mnt2 rw - fuse.rclone cloud: rw\n"
      "39 35\n";
  CHECK(mount_type(text, "0:42") == "fuse.rclone");
  CHECK(mount_type(text, "0:43") == "ext4");
  CHECK(mount_type(text, "0:44").empty());
}

TEST_CASE("the file system of a path that is not there is that of the directory above it") {
  const TempDirectory directory;
  CHECK(file_system_of(directory / "a/b/c").magic == file_system_of(directory.path()).magic);
  CHECK(file_system_of(directory.path()).magic != 0);
}

TEST_CASE("a store is not made on a network file system") {
  const TempDirectory directory;
  TestLoop loop;
  SqliteOptions options;
  options.file_system_of = [](const std::string&) { return FileSystem{0x6969, ""}; };
  const auto opened = SqliteJournal::open(directory / "store", loop, options);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == ErrorCode::invalid_argument);
  CHECK_FALSE(std::filesystem::exists(directory / "store"));
}

}  // namespace
}  // namespace pawl::sqlite
