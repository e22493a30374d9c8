// Files that change together: all of them, or none.
//
// Each new content is written to a temporary file beside its target and synced; commit() then puts
// them in place by rename, one after the other, and takes back what it did when one fails. An old
// file is looked at once more when it is out of the way: if it is not the one that the caller had
// read, that is a conflict and everything is taken back. A reader sees the old or the new bytes
// of a file, never a mixture. A host that dies inside commit() may leave some files old and some
// new, each of them whole.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/adapter/backend/files/file_content.h"
#include "pawl/adapter/backend/files/roots.h"

namespace pawl::backend {

// Names that start so are temporary files; no listing, search or scan shows them. They lie in a
// directory of their own where that is on the same mount, otherwise beside their targets.
inline constexpr std::string_view kTemporaryPrefix = ".pawl-tmp-";
inline constexpr std::size_t kChangesMax = 1000;
inline constexpr std::size_t kDirectoriesMadeMax = 64;  // on the way to one file

enum class Executable : std::uint8_t { no, yes };

class FileChanges {
 public:
  // `scratch`: a directory for temporary files, or -1.
  explicit FileChanges(int scratch = -1) : scratch_(scratch) {}
  ~FileChanges();  // without commit(): nothing has changed
  FileChanges(const FileChanges&) = delete;
  FileChanges& operator=(const FileChanges&) = delete;

  // A file that must not be there yet. Directories on the way are made.
  Status add(const Place& place, std::string_view bytes, Executable executable = Executable::no);
  // A file as it was read. It keeps its permissions but for setuid and setgid, and its owner.
  Status replace(const Place& place, std::string_view bytes, const struct stat& old);
  Status remove(const Place& place, const struct stat& old);
  Status commit();

 private:
  struct Change {
    enum class Kind : std::uint8_t { add, replace, remove } kind = Kind::add;
    Descriptor directory;
    std::string name;
    std::string temporary;  // the new file before, the old one after it was put in place
    int scratch = -1;       // the directory of `temporary`
    std::string path;
    FileStamp old;
    bool in_place = false;
  };
  struct MadeDirectory {
    Descriptor parent;
    std::string name;
  };

  Result<Descriptor> make_parent(const Place& place);
  Result<Descriptor> make_directory(int parent, const std::string& name, const std::string& path);
  Status stage(const Place& place, Change change, std::string_view bytes,
               std::optional<struct stat> like, Executable executable);
  static Status put_in_place(Change& change);
  static void take_back(Change& change);
  void undo();

  int scratch_;
  std::vector<Change> changes_;
  std::vector<MadeDirectory> made_;
  bool committed_ = false;
};

}  // namespace pawl::backend
