#include "tests/fuzz/seeds.h"

#include <filesystem>
#include <fstream>

#include "pawl/kernel/codec.h"
#include "pawl/kernel/kernel.h"

namespace pawl::fuzz {
namespace {

std::string from_hex_line(const std::string& line) {
  constexpr int kBase = 16;
  std::string bytes;
  for (std::size_t i = 0; i + 2 <= line.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(line.substr(i, 2), nullptr, kBase));
  }
  return bytes;
}

// See pieces_of().
void append_piece(std::string& list, const std::string& piece) {
  list += static_cast<char>(piece.size() & 0xffU);
  list += static_cast<char>(piece.size() >> 8U);
  list += piece;
}

void add_journal(const std::filesystem::path& path, std::vector<Seed>& seeds) {
  const std::string name = path.stem().string();
  std::string records;
  std::string events;
  Run run;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line) && !line.starts_with("chain ");) {
    const std::string bytes = from_hex_line(line);
    append_piece(records, bytes);
    const auto record = decode_record(bytes);
    if (!record || !fold(run, *record)) continue;
    append_piece(events, encode_event(record->event));
    const std::string numbered = name + "-" + std::to_string(record->seq);
    seeds.push_back({"event", numbered, encode_event(record->event)});
    seeds.push_back({"snapshot", numbered, encode_snapshot(run)});
  }
  seeds.push_back({"record", name, records});
  seeds.push_back({"advance", name, events});
}

}  // namespace

std::vector<Seed> seeds_from(const std::string& directory) {
  std::vector<Seed> seeds;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.path().extension() == ".hex") add_journal(entry.path(), seeds);
  }
  return seeds;
}

}  // namespace pawl::fuzz
