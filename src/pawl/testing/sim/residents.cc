#include "pawl/testing/sim/residents.h"

#include <algorithm>
#include <utility>

namespace pawl::sim {

Residents::Residents(World& world, SimStorage& storage, std::uint64_t processes, Say say)
    : world_(world), storage_(storage), say_(std::move(say)) {
  // The planted bug shows only when nobody is left who knows.
  const bool alone = world.bug == PlantedBug::load_counted_late;
  all_.resize(alone ? 1 : std::max<std::uint64_t>(processes, 1));
}

void Residents::look_after() {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    Resident& resident = all_[i];
    if (resident.process && resident.process->store().failed()) kill(i, "its store stopped");
    if (resident.process || world_.clock.passed_ms() < resident.back_at_ms) continue;
    const std::string name = "p" + std::to_string(i + 1) + "." + std::to_string(++resident.lives);
    resident.doomed = false;
    resident.process = std::make_unique<SimProcess>(world_, storage_, name, [this, i] {
      // It dies inside its own code: the remains are cleared away when that has unwound.
      say_(all_[i].process->name() + " dies");
      ++crashes_;
      all_[i].doomed = true;
      world_.loop.post([this, i] {
        if (all_[i].doomed) bury(i);
      });
    });
  }
}

void Residents::bury(std::size_t i) {
  all_[i].process.reset();
  all_[i].doomed = false;
  all_[i].back_at_ms = world_.clock.passed_ms() + world_.rng.between(0, 300);
  const bool nobody = std::none_of(all_.begin(), all_.end(),
                                   [](const Resident& one) { return one.process != nullptr; });
  if (nobody) reopen();
}

void Residents::kill(std::size_t i, const std::string& why) {
  say_(all_[i].process->name() + " is killed: " + why);
  ++crashes_;
  bury(i);
}

// With nobody left, the store is what its log says: the books must not change.
void Residents::reopen() {
  if (const Status opened = storage_.reopen(); !opened) {
    return world_.oracle.fail("the store does not open: " + opened.error().message);
  }
  world_.oracle.on_power_loss();
}

SimProcess* Residents::any() {
  const std::size_t first = world_.rng.below(all_.size());
  for (std::size_t i = 0; i < all_.size(); ++i) {
    Resident& resident = all_[(first + i) % all_.size()];
    if (resident.process && !resident.doomed) return resident.process.get();
  }
  return nullptr;
}

SimProcess* Residents::driver_of(const RunId& id) const {
  const auto found = std::find_if(all_.begin(), all_.end(), [&id](const Resident& one) {
    return one.process && one.process->drives(id);
  });
  return found == all_.end() ? nullptr : found->process.get();
}

void Residents::crash_one() {
  const std::size_t i = world_.rng.below(all_.size());
  if (all_[i].process && !all_[i].doomed) kill(i, "by chance");
}

void Residents::stop_one() {
  Resident& resident = all_[world_.rng.below(all_.size())];
  if (!resident.process || resident.doomed) return;
  say_(resident.process->name() + " is stopped for a while");
  resident.process->loop().stop();
  world_.loop.at(world_.rng.between(10, 20'000), [life = resident.lives, &resident] {
    if (resident.process && resident.lives == life) resident.process->loop().go_on();
  });
}

void Residents::lose_power() {
  say_("the power fails");
  for (Resident& resident : all_) {
    if (resident.process) ++crashes_;
    resident.process.reset();
    resident.doomed = false;
    resident.back_at_ms = world_.clock.passed_ms() + world_.rng.between(0, 1'000);
  }
  settle_books();
  if (const Status opened = storage_.lose_power(); !opened) {
    return world_.oracle.fail("the store does not open: " + opened.error().message);
  }
  world_.oracle.on_power_loss();
}

// What the store applied is in the books before the power goes.
void Residents::settle_books() {
  bool settled = false;
  storage_.loop().post([&settled] { settled = true; });
  while (!settled && world_.clock.step()) {
  }
}

}  // namespace pawl::sim
