#include "pawl/models/catalogue.h"

#include <algorithm>
#include <utility>

#include "pawl/json.h"
#include "pawl/result.h"

namespace pawl {

namespace {

using Support = ExecutorModelDescriptor::Support;

constexpr std::size_t kProviderNameBytesMax = 64;
constexpr std::size_t kDisplayNameBytesMax = 256;
constexpr std::size_t kCurrencyBytes = 3;

void take_support(MapReader& reader, std::string_view key, std::optional<Support>& out) {
  bool value = false;
  if (reader.take_bool(key, value)) out = value ? Support::yes : Support::no;
}

void take_count(MapReader& reader, std::string_view key, std::int64_t high,
                std::optional<std::uint64_t>& out) {
  std::uint64_t value = 0;
  if (reader.take_int(key, {0, high}, value)) out = value;
}

// What a tier does not say of caches costs what its input costs: never too little.
PriceTier read_tier(const Node& node, std::vector<Fault>& faults, const std::string& where) {
  PriceTier tier;
  MapReader reader(node, faults, where);
  for (const std::string_view key : {"above", "input", "output"}) reader.require(key);
  reader.take_int("above", {1, kModelTokensMax}, tier.above_tokens);
  reader.take_int("input", {0, kTokenPricePicoMax}, tier.rates.input);
  reader.take_int("output", {0, kTokenPricePicoMax}, tier.rates.output);
  std::optional<std::uint64_t> read;
  std::optional<std::uint64_t> creation;
  std::optional<std::uint64_t> creation_1h;
  take_count(reader, "cache_read", kTokenPricePicoMax, read);
  take_count(reader, "cache_creation", kTokenPricePicoMax, creation);
  take_count(reader, "cache_creation_1h", kTokenPricePicoMax, creation_1h);
  tier.rates.cache_read = read.value_or(tier.rates.input);
  tier.rates.cache_creation = creation.value_or(tier.rates.input);
  tier.rates.cache_creation_1h = creation_1h.value_or(tier.rates.cache_creation);
  reader.finish();
  return tier;
}

void read_tiers(MapReader& reader, std::vector<Fault>& faults, const std::string& where,
                ModelFacts& facts) {
  const Node* list = reader.take_list("tiers");
  if (list == nullptr) return;
  if (list->items().size() > kPriceTiersMax) {
    return reader.fault(list->mark(),
                        "there may be " + std::to_string(kPriceTiersMax) + " tiers of prices");
  }
  facts.tiers.emplace();
  for (const Node& item : list->items()) {
    facts.tiers->push_back(read_tier(item, faults, where + ".prices.tiers"));
  }
}

void read_prices(const Node& node, std::vector<Fault>& faults, const std::string& where,
                 ModelFacts& facts) {
  MapReader reader(node, faults, where + ".prices");
  std::string currency;
  if (reader.take_string("currency", currency)) {
    const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
    if (currency.size() != kCurrencyBytes ||
        !std::all_of(currency.begin(), currency.end(), is_capital)) {
      reader.fault(node.find("currency")->mark(), "\"currency\" must be a code such as USD");
    }
    facts.currency = currency;
  }
  take_count(reader, "input", kTokenPricePicoMax, facts.input_price);
  take_count(reader, "output", kTokenPricePicoMax, facts.output_price);
  take_count(reader, "cache_read", kTokenPricePicoMax, facts.cache_read_price);
  take_count(reader, "cache_creation", kTokenPricePicoMax, facts.cache_creation_price);
  take_count(reader, "cache_creation_1h", kTokenPricePicoMax, facts.cache_creation_1h_price);
  read_tiers(reader, faults, where, facts);
  reader.finish();
}

template <class T>
void replace(std::optional<T>& ours, const std::optional<T>& theirs) {
  if (theirs) ours = theirs;
}

void merge_facts(ModelFacts& ours, const ModelFacts& over) {
  replace(ours.display_name, over.display_name);
  replace(ours.context_tokens, over.context_tokens);
  replace(ours.output_tokens, over.output_tokens);
  replace(ours.currency, over.currency);
  replace(ours.input_price, over.input_price);
  replace(ours.output_price, over.output_price);
  replace(ours.cache_read_price, over.cache_read_price);
  replace(ours.cache_creation_price, over.cache_creation_price);
  replace(ours.cache_creation_1h_price, over.cache_creation_1h_price);
  replace(ours.tiers, over.tiers);
  replace(ours.thinking, over.thinking);
  replace(ours.images, over.images);
  replace(ours.temperature, over.temperature);
  replace(ours.structured_output, over.structured_output);
}

ExecutorModelDescriptor descriptor_of(std::string id, const ModelFacts& facts) {
  ExecutorModelDescriptor out;
  out.display_name = facts.display_name.value_or(id);
  out.id = std::move(id);
  out.context_tokens = facts.context_tokens.value_or(0);
  out.max_output_tokens = facts.output_tokens.value_or(0);
  out.prices.currency = facts.currency.value_or("USD");
  out.prices.input = facts.input_price.value_or(0);
  out.prices.output = facts.output_price.value_or(0);
  // Cached tokens of an unknown price cost what other tokens of the input cost: never too little.
  out.prices.cache_read = facts.cache_read_price.value_or(out.prices.input);
  out.prices.cache_creation = facts.cache_creation_price.value_or(out.prices.input);
  out.prices.cache_creation_1h = facts.cache_creation_1h_price.value_or(out.prices.cache_creation);
  out.prices.tiers = facts.tiers.value_or(std::vector<PriceTier>());
  out.priced = facts.input_price && facts.output_price ? Support::yes : Support::no;
  out.thinking = facts.thinking.value_or(Support::no);
  out.images = facts.images.value_or(Support::no);
  out.temperature = facts.temperature.value_or(Support::yes);
  out.structured_output = facts.structured_output.value_or(Support::no);
  return out;
}

void read_version(MapReader& reader, const Node& root) {
  std::int64_t version = 0;
  if (reader.require("version") == nullptr) return;
  if (!reader.take_int("version", {1, 1'000'000}, version)) return;
  if (version == kCatalogueVersion) return;
  reader.fault(root.find("version")->mark(),
               "the catalogue has version " + std::to_string(version) +
                   ", and this program reads " + std::to_string(kCatalogueVersion));
}

// Of the builtin text: its places are nobody's business, and JSON is read far faster than YAML.
Node node_of(const Json& json) {
  if (const bool* flag = json.if_boolean()) return Node::make_bool(*flag, "", {});
  if (const auto number = json.as_int64()) return Node::make_integer(*number, "", {});
  if (const std::string* text = json.if_string()) return Node::make_string(*text, {});
  if (const JsonArray* array = json.if_array()) {
    std::vector<Node> items;
    for (const Json& item : *array) items.push_back(node_of(item));
    return Node::make_list(std::move(items), {});
  }
  PAWL_ASSERT(json.is_object());
  std::vector<Member> members;
  for (const JsonMember& member : json.object().members()) {
    members.push_back({member.key, {}, node_of(member.value)});
  }
  return Node::make_map(std::move(members), {});
}

}  // namespace

bool is_provider_name(std::string_view text) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto accepted = [&is_letter](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= kProviderNameBytesMax && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), accepted);
}

std::optional<ModelLiteral> split_literal(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash + 1 == text.size()) return std::nullopt;
  if (!is_provider_name(text.substr(0, slash))) return std::nullopt;
  return ModelLiteral{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

std::string_view without_date(std::string_view model) {
  // '0' stands for any digit.
  for (const std::string_view form : {"-00000000", "-0000-00-00"}) {
    if (model.size() <= form.size()) continue;
    const std::string_view end = model.substr(model.size() - form.size());
    const auto fits = [](char c, char f) { return f == '0' ? c >= '0' && c <= '9' : c == f; };
    if (std::equal(end.begin(), end.end(), form.begin(), form.end(), fits)) {
      return model.substr(0, model.size() - form.size());
    }
  }
  return model;
}

ModelFacts read_model_facts(const Node& node, std::vector<Fault>& faults,
                            const std::string& where) {
  ModelFacts facts;
  MapReader reader(node, faults, where);
  std::string name;
  if (reader.take_string("display_name", name)) {
    if (name.size() > kDisplayNameBytesMax) {
      reader.fault(node.find("display_name")->mark(),
                   "\"display_name\" may have " + std::to_string(kDisplayNameBytesMax) + " bytes");
    }
    facts.display_name = name;
  }
  take_count(reader, "context", kModelTokensMax, facts.context_tokens);
  take_count(reader, "output", kModelTokensMax, facts.output_tokens);
  if (const Node* prices = reader.take("prices")) read_prices(*prices, faults, where, facts);
  take_support(reader, "thinking", facts.thinking);
  take_support(reader, "images", facts.images);
  take_support(reader, "temperature", facts.temperature);
  take_support(reader, "structured_output", facts.structured_output);
  reader.finish();
  return facts;
}

void Catalogue::merge(const Catalogue& over) {
  for (const auto& [literal, facts] : over.entries_) merge(literal, facts);
}

void Catalogue::merge(const std::string& literal, const ModelFacts& facts) {
  merge_facts(entries_[literal], facts);
}

std::optional<ExecutorModelDescriptor> Catalogue::find(std::string_view literal) const {
  auto entry = entries_.find(literal);
  if (entry == entries_.end()) entry = entries_.find(without_date(literal));
  if (entry == entries_.end()) return std::nullopt;
  return descriptor_of(std::string(literal), entry->second);
}

std::vector<ExecutorModelDescriptor> Catalogue::models_of(std::string_view provider) const {
  const std::string prefix = std::string(provider) + "/";
  std::vector<ExecutorModelDescriptor> models;
  for (auto entry = entries_.lower_bound(prefix); entry != entries_.end(); ++entry) {
    if (!entry->first.starts_with(prefix)) break;
    models.push_back(descriptor_of(entry->first.substr(prefix.size()), entry->second));
  }
  return models;
}

CatalogueReading read_catalogue(const Node& root) {
  CatalogueReading reading;
  MapReader reader(root, reading.faults, "catalogue");
  read_version(reader, root);
  std::string as_of;  // for people
  reader.take_string("as_of", as_of);
  reader.require("models");
  const Node* models = reader.take_map("models");
  reader.finish();
  if (models == nullptr) return reading;
  if (models->members().size() > kCatalogueModelsMax) {
    reader.fault(models->mark(), "there may be " + std::to_string(kCatalogueModelsMax) + " models");
    return reading;
  }
  for (const Member& member : models->members()) {
    if (!split_literal(member.key) || member.key.size() > kModelLiteralBytesMax) {
      reader.fault(member.key_mark, quoted(member.key) + " is not provider/model");
      continue;
    }
    reading.catalogue.merge(member.key,
                            read_model_facts(member.value, reading.faults, quoted(member.key)));
  }
  return reading;
}

Catalogue builtin_catalogue() {
  const auto json = parse_json(builtin_catalogue_text());
  PAWL_ASSERT(json.has_value());
  CatalogueReading reading = read_catalogue(node_of(*json));
  PAWL_ASSERT(reading.faults.empty());
  return std::move(reading.catalogue);
}

}  // namespace pawl
