// A reader of another store, for those that change one thing about what it says.
#pragma once

#include "pawl/store.h"

namespace pawl {

class ForwardingReader : public JournalReader {
 public:
  explicit ForwardingReader(JournalReader& inner) : inner_(inner) {}

  Result<std::vector<StoredRecord>> read(const RunId& run, std::uint64_t from,
                                         std::size_t bytes_max) override {
    return inner_.read(run, from, bytes_max);
  }
  Result<std::string> blob(const RunId& run, const Digest& digest) override {
    return inner_.blob(run, digest);
  }
  Result<std::optional<std::int64_t>> expired_at(const RunId& run, const Digest& digest) override {
    return inner_.expired_at(run, digest);
  }
  Result<std::optional<StoredSnapshot>> snapshot(const RunId& run) override {
    return inner_.snapshot(run);
  }

 private:
  JournalReader& inner_;
};

}  // namespace pawl
