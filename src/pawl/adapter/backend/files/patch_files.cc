#include "pawl/adapter/backend/files/patch_files.h"

#include "pawl/adapter/backend/files/file_changes.h"
#include "pawl/adapter/backend/files/patch_apply.h"
#include "pawl/adapter/backend/files/shown_name.h"

namespace pawl::backend {
namespace {

class Patching {
 public:
  Patching(const Roots& roots, int scratch) : roots_(roots), changes_(scratch) {}

  Status stage(const FilePatch& file) {
    PAWL_TRY(const Place place, roots_.place(file.path, Access::write));
    if (file.kind == FilePatch::Kind::add) return add(place, file);
    PAWL_TRY(const FileContent old, read_regular(place, Links::refused, kPatchedFileBytesMax));
    PAWL_CHECK(check_replaceable(old.status, place.path));
    PAWL_TRY(const std::string made, apply_hunks(old.bytes, file));
    bytes_ += old.bytes.size() + made.size();
    if (bytes_ > kPatchedBytesMax) {
      return Error{ErrorCode::limit_exceeded,
                   "the patch changes more than " + std::to_string(kPatchedBytesMax) + " bytes"};
    }
    if (file.kind == FilePatch::Kind::remove) return remove(place, file, old, made);
    return file.move_to ? move(place, file, old, made) : update(place, old, made);
  }

  Result<std::vector<PatchedFile>> commit() {
    PAWL_CHECK(changes_.commit());
    return std::move(patched_);
  }

 private:
  void note(const Place& place, std::string what, std::optional<std::string_view> bytes) {
    PatchedFile file{place, std::move(what), std::nullopt};
    if (bytes) file.ref = FileRef{shown_name(place.path), bytes->size(), sha256(*bytes)};
    patched_.push_back(std::move(file));
  }

  Status add(const Place& place, const FilePatch& file) {
    note(place, "A " + shown_name(place.path), file.content);
    return changes_.add(place, file.content, file.executable ? Executable::yes : Executable::no);
  }

  Status update(const Place& place, const FileContent& old, const std::string& made) {
    note(place, "M " + shown_name(place.path), made);
    return changes_.replace(place, made, old.status);
  }

  Status remove(const Place& place, const FilePatch& file, const FileContent& old,
                const std::string& made) {
    if (!file.hunks.empty() && !made.empty()) {
      return Error{ErrorCode::conflict,
                   shown_name(place.path) + ": the patch removes the file, but not all its lines"};
    }
    note(place, "D " + shown_name(place.path), std::nullopt);
    return changes_.remove(place, old.status);
  }

  Status move(const Place& place, const FilePatch& file, const FileContent& old,
              const std::string& made) {
    PAWL_TRY(const Place target, roots_.place(*file.move_to, Access::write));
    note(target, "R " + shown_name(place.path) + " -> " + shown_name(target.path), made);
    const bool executable = (old.status.st_mode & S_IXUSR) != 0;
    PAWL_CHECK(changes_.remove(place, old.status));
    return changes_.add(target, made, executable ? Executable::yes : Executable::no);
  }

  const Roots& roots_;
  FileChanges changes_;
  std::vector<PatchedFile> patched_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

Result<std::vector<PatchedFile>> patch_files(const Roots& roots, std::string_view text,
                                             int scratch) {
  PAWL_TRY(const auto files, read_patch(text));
  Patching patching(roots, scratch);
  for (const FilePatch& file : files) PAWL_CHECK(patching.stage(file));
  return patching.commit();
}

}  // namespace pawl::backend
