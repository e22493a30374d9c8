// Words that the tests of a journal are written in.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pawl/port/journal_checks.h"
#include "pawl/store.h"
#include "tests/support/test_loop.h"

namespace pawl::contract {

inline RunId run_id(const std::string& text) {
  return RunId{text};
}

inline RunSummary summary_of(const RunId& run, const std::string& status = "running") {
  return RunSummary{run, "default", "test", status, "", 1000, 1000, 0};
}

// SHA-256(previous ‖ bytes), with the run's id before the first link.
inline Digest chain_after(const RunId& run, const std::vector<std::string>& records) {
  Digest chain = sha256(run.text);
  for (const std::string& bytes : records) chain = Sha256().add(chain.view()).add(bytes).finish();
  return chain;
}

inline Append append_of(const RunId& run, std::uint64_t epoch, std::uint64_t seq,
                        const std::string& bytes) {
  Append append;
  append.run = run;
  append.epoch = epoch;
  append.seq = seq;
  append.bytes = bytes;
  append.chain = sha256(run.text + std::to_string(seq) + bytes);
  if (seq == 0) append.summary = summary_of(run);
  return append;
}

inline StoredBlob blob_of(const std::string& bytes) {
  return StoredBlob{sha256(bytes), bytes};
}

// "ok", or the name of the error's code: comparable, and readable when it differs.
template <class T>
std::string outcome(const Result<T>& result) {
  return result ? "ok" : std::string(name(result.error().code));
}

template <class Store>
std::string append_now(Store& store, Append append) {
  std::optional<std::string> seen;
  store.journal.append(std::move(append), [&](Status status) { seen = outcome(status); });
  REQUIRE(store.loop.run_until([&] { return seen.has_value(); }));
  return *seen;
}

template <class Store>
std::string post_now(Store& store, const RunId& run, const std::string& body) {
  std::optional<std::string> seen;
  store.journal.post(run, 77, body, [&](Status status) { seen = outcome(status); });
  REQUIRE(store.loop.run_until([&] { return seen.has_value(); }));
  return *seen;
}

// A run of `count` records "r0", "r1", … under epoch 1.
template <class Store>
RunId make_run(Store& store, const std::string& id, std::uint64_t count = 1) {
  const RunId run = run_id(id);
  for (std::uint64_t seq = 0; seq < count; ++seq) {
    REQUIRE(append_now(store, append_of(run, 1, seq, "r" + std::to_string(seq))) == "ok");
  }
  return run;
}

template <class Store>
std::vector<std::string> records_of(Store& store, const RunId& run) {
  const auto records = store.journal.read(run, 0, 1U << 30U);
  std::vector<std::string> bytes;
  if (!records) return bytes;
  for (const StoredRecord& record : *records) bytes.push_back(record.bytes);
  return bytes;
}

using Texts = std::vector<std::string>;

}  // namespace pawl::contract
