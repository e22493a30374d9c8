// What is known about models: sizes, prices, capabilities. The catalogue is shipped inside the
// program (data/models.json); an operator's file merges over it field by field. See docs/models.md.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/executor.h"

namespace pawl {

inline constexpr std::int64_t kCatalogueVersion = 1;
inline constexpr std::size_t kCatalogueModelsMax = 10'000;
inline constexpr std::size_t kModelLiteralBytesMax = 256;
inline constexpr std::int64_t kModelTokensMax = 1'000'000'000;
inline constexpr std::int64_t kTokenPricePicoMax = 1'000'000'000'000;  // a unit of money a token
inline constexpr std::size_t kPriceTiersMax = 8;

// What one entry says; what it does not say stays as it was.
struct ModelFacts {
  std::optional<std::string> display_name;
  std::optional<std::uint64_t> context_tokens;
  std::optional<std::uint64_t> output_tokens;
  std::optional<std::string> currency;
  std::optional<std::uint64_t> input_price;  // of a token, in 10^-12 units; so are the others
  std::optional<std::uint64_t> output_price;
  std::optional<std::uint64_t> cache_read_price;
  std::optional<std::uint64_t> cache_creation_price;
  std::optional<std::uint64_t> cache_creation_1h_price;
  std::optional<std::vector<PriceTier>> tiers;  // as a whole
  std::optional<ExecutorModelDescriptor::Support> thinking;
  std::optional<ExecutorModelDescriptor::Support> images;
  std::optional<ExecutorModelDescriptor::Support> temperature;
  std::optional<ExecutorModelDescriptor::Support> structured_output;

  friend bool operator==(const ModelFacts&, const ModelFacts&) = default;
};

// The keys of one model's entry. Also for `models` of a provider in a configuration file.
ModelFacts read_model_facts(const Node& node, std::vector<Fault>& faults, const std::string& where);

// "provider/model": a provider's name, a slash, and what the provider calls the model.
struct ModelLiteral {
  std::string provider;
  std::string model;
};
std::optional<ModelLiteral> split_literal(std::string_view text);
// Lower case letters, digits, '_' and '-', the first a letter.
bool is_provider_name(std::string_view text);

class Catalogue {
 public:
  // Fields that `over` has replace ours.
  void merge(const Catalogue& over);
  void merge(const std::string& literal, const ModelFacts& facts);

  // The facts of "provider/model"; a dated snapshot without an entry has those of its model.
  // nullopt: nothing is known. The descriptor's id is `literal`.
  std::optional<ExecutorModelDescriptor> find(std::string_view literal) const;
  // The models of one provider; their ids are as the provider knows them.
  std::vector<ExecutorModelDescriptor> models_of(std::string_view provider) const;
  std::size_t count() const { return entries_.size(); }

 private:
  std::map<std::string, ModelFacts, std::less<>> entries_;  // by "provider/model"
};

struct CatalogueReading {
  Catalogue catalogue;
  std::vector<Fault> faults;
};
// `root` is what was parsed: JSON, or YAML.
CatalogueReading read_catalogue(const Node& root);

// data/models.json as it was when the program was built.
std::string_view builtin_catalogue_text();
Catalogue builtin_catalogue();

// `model` without the date of a snapshot at its end ("-20250929", "-2025-08-07"); the whole text
// when there is none.
std::string_view without_date(std::string_view model);

}  // namespace pawl
