// Files that come with a run's input: they are written into the session's directory under inputs/,
// and the prompt gets their names, sizes and digests, never their bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/backend.h"
#include "pawl/ids.h"
#include "pawl/result.h"

namespace pawl {

inline constexpr std::uint64_t kInputFileBytesMax = 50U << 20U;
inline constexpr std::size_t kInputFilesMax = 100;
inline constexpr std::size_t kInputNameBytesMax = 200;

struct InputFile {
  std::string id;    // by which the host knows it
  std::string name;  // as its owner calls it; only its last part is used, made safe
  std::string media_type;
  std::optional<std::string> bytes;  // absent: asked for by id, or too many to be read
};

// The bytes of a file that was given by its id.
using InputFileSource = std::function<Result<std::string>(const std::string& id)>;

struct StagedFile {
  std::string id;
  std::string path;  // "inputs/report.pdf", as view() takes it
  std::string media_type;
  std::uint64_t size = 0;
  Digest sha256;

  friend bool operator==(const StagedFile&, const StagedFile&) = default;
};

struct SkippedFile {
  std::string id;
  std::string name;
  std::string why;

  friend bool operator==(const SkippedFile&, const SkippedFile&) = default;
};

struct Staging {
  std::vector<StagedFile> staged;
  std::vector<SkippedFile> skipped;
};

// One file after the other; a file that fails is skipped with the reason. Staging the same list
// again gives the same names and the same bytes.
std::unique_ptr<Operation> stage_inputs(std::shared_ptr<BackendSession> session, Loop& loop,
                                        std::vector<InputFile> files, InputFileSource source,
                                        std::function<void(Staging)> done);

// Likewise for files that are written by somebody else, into `directory`: their names there, in the
// order given, or why they are not. Without bytes a file is skipped.
Staging plan_inputs(const std::vector<InputFile>& files, const std::string& directory);

// What is written beside such files, as kInputDigestsName: each name with its digest, sealed.
inline constexpr std::string_view kInputDigestsName = ".digests";
std::string input_digests(const Staging& plan);
// Whether the files of `directory` are those that were written. corrupt: one is not, it is missing,
// or the digests are.
Status check_inputs(const std::string& directory);

// "[ATTACHED FILES]" and a line for each file, for the prompt. Empty when there were none.
std::string attached_files_block(const Staging& staging);

// A name that is safe in a directory and in a prompt: the last part, without control characters,
// leading dots or spaces at its ends.
std::string safe_input_name(std::string_view name);

}  // namespace pawl
