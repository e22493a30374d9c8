// pawl_fuzz_replay TARGET GOLDEN [DIRECTORY]: runs a target once on its seeds from the golden
// journals and on every file of a directory. pawl_fuzz_replay --write-seeds GOLDEN DIRECTORY:
// writes those seeds, a directory a target.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"

namespace {

namespace fs = std::filesystem;

std::string contents_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Named before it is tried, so that a crash names its input.
void replay(pawl::fuzz::Target target, const std::string& name, const std::string& bytes) {
  std::printf("%s\n", name.c_str());
  std::fflush(stdout);
  target(bytes);
}

int replay_all(const std::string& name, const std::string& golden, const fs::path& directory) {
  const auto target = pawl::fuzz::find_target(name);
  if (target == nullptr) return 2;
  int count = 0;
  for (const auto& seed : pawl::fuzz::seeds_from(golden)) {
    if (seed.target != name) continue;
    replay(target, seed.name, seed.bytes);
    ++count;
  }
  if (fs::exists(directory)) {
    for (const auto& entry : fs::directory_iterator(directory)) {
      replay(target, entry.path().string(), contents_of(entry.path()));
      ++count;
    }
  }
  std::printf("%d inputs\n", count);
  return count > 0 ? 0 : 1;
}

int write_seeds(const std::string& golden, const fs::path& directory) {
  for (const auto& seed : pawl::fuzz::seeds_from(golden)) {
    fs::create_directories(directory / seed.target);
    std::ofstream(directory / seed.target / seed.name, std::ios::binary) << seed.bytes;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 3 && words[0] == "--write-seeds") return write_seeds(words[1], words[2]);
  if (words.size() == 3) return replay_all(words[0], words[1], words[2]);
  std::fprintf(stderr, "usage: pawl_fuzz_replay TARGET|--write-seeds GOLDEN DIRECTORY\n");
  return 2;
}
