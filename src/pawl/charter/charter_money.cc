#include "pawl/charter/charter_money.h"

#include <algorithm>

#include "pawl/charter/charter_models.h"

namespace pawl {

namespace {

constexpr std::size_t kPicoDigits = 12;
constexpr std::uint64_t kPicoPerUnit = 1'000'000'000'000;
constexpr std::size_t kCurrencyBytes = 3;
constexpr std::size_t kUnitDigitsMax = 7;  // those of kMoneyUnitsMax; more would overflow

}  // namespace

std::optional<Money> take_money(MapReader& reader, std::string_view key) {
  const Node* node = reader.take(key);
  if (node == nullptr) return std::nullopt;
  const auto text = node->as_string();
  if (const auto money = text ? parse_money(*text) : std::nullopt) return money;
  reader.fault(node->mark(),
               quoted(key) + " must be an amount of money, found " + describe_kind(*node),
               "write it as 2.00 USD, at most " + std::to_string(kMoneyUnitsMax));
  return std::nullopt;
}

std::optional<Money> parse_money(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const std::string_view number = text.substr(0, space);
  const std::string_view currency = text.substr(space + 1);
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (currency.size() != kCurrencyBytes) return std::nullopt;
  if (!std::all_of(currency.begin(), currency.end(), is_capital)) return std::nullopt;
  if (std::min(number.find('.'), number.size()) > kUnitDigitsMax) return std::nullopt;
  const auto pico = parse_fixed_point(number, kPicoDigits);
  if (!pico || *pico == 0 || *pico > kMoneyUnitsMax * kPicoPerUnit) return std::nullopt;
  return Money{*pico, std::string(currency)};
}

void read_spending(MapReader& reader, const Node& limits, Spending& spending) {
  const auto cost = take_money(reader, "cost");
  const auto ask = take_money(reader, "ask_cost");
  if (cost) spending.cost_pico = cost->pico;
  if (ask) spending.ask_cost_pico = ask->pico;
  if (cost || ask) spending.currency = (cost ? cost : ask)->currency;
  if (!cost || !ask) return;
  const Mark mark = limits.find("ask_cost")->mark();
  if (cost->currency != ask->currency) {
    reader.fault(mark, "\"cost\" and \"ask_cost\" are in different currencies");
  } else if (ask->pico > cost->pico) {
    reader.fault(mark, "\"ask_cost\" is above \"cost\", where the run stops anyway");
  }
}

}  // namespace pawl
