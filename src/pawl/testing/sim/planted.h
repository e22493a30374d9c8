// Bugs that can be switched on, to show that the simulator finds them. Each stands for a mistake
// that was made in some system like this one; the simulated parts make it on purpose.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pawl::sim {

enum class PlantedBug : std::uint8_t {
  none,
  intent_unsynced,            // appends are acknowledged before the disk has them
  result_acknowledged_early,  // likewise, only for results of tools
  no_epoch_check,             // a driver that lost its run can still append
  blind_rerun,                // a call of unknown outcome is simply made again
  key_from_clock,             // each attempt gets a key of its own
  torn_tail_refused,          // a half-written last record keeps the store from opening
  damage_dropped,             // a damaged record and all behind it are silently left out
  zero_record_accepted,       // a stretch of zeros is taken for a record
  cancel_after_the_end,       // cancelling a finished run changes what it ended as
  retry_after_timeout,        // a call that ran into its timeout is made again
  duplicate_ids_collapsed,    // two calls that carry one provider id become one
  blob_after_record,          // a large content is written after the record that names it
  load_counted_late,          // a load that kills its process is not counted
  full_disk_is_success,       // an append that found no space is acknowledged
  sync_retried,               // a failed sync is tried again and believed
  timer_of_32_bits,           // times are counted in 32 bits
  wall_clock_lease,           // a run is held until a time of the wall's, which jumps
  heartbeat_after_takeover,   // who lost its run renews what it has lost
  approval_unbound,           // what an approval is for does not depend on the arguments
  ask_is_allow,               // a call that a person must see runs without
  end_over_inbox,             // a run ends although a message has just been accepted for it
};

inline constexpr std::size_t kPlantedBugs = 21;

struct PlantedBugName {
  PlantedBug bug;
  std::string_view name;
};
inline constexpr std::array<PlantedBugName, kPlantedBugs> kPlantedBugNames = {{
    {PlantedBug::intent_unsynced, "intent_unsynced"},
    {PlantedBug::result_acknowledged_early, "result_acknowledged_early"},
    {PlantedBug::no_epoch_check, "no_epoch_check"},
    {PlantedBug::blind_rerun, "blind_rerun"},
    {PlantedBug::key_from_clock, "key_from_clock"},
    {PlantedBug::torn_tail_refused, "torn_tail_refused"},
    {PlantedBug::damage_dropped, "damage_dropped"},
    {PlantedBug::zero_record_accepted, "zero_record_accepted"},
    {PlantedBug::cancel_after_the_end, "cancel_after_the_end"},
    {PlantedBug::retry_after_timeout, "retry_after_timeout"},
    {PlantedBug::duplicate_ids_collapsed, "duplicate_ids_collapsed"},
    {PlantedBug::blob_after_record, "blob_after_record"},
    {PlantedBug::load_counted_late, "load_counted_late"},
    {PlantedBug::full_disk_is_success, "full_disk_is_success"},
    {PlantedBug::sync_retried, "sync_retried"},
    {PlantedBug::timer_of_32_bits, "timer_of_32_bits"},
    {PlantedBug::wall_clock_lease, "wall_clock_lease"},
    {PlantedBug::heartbeat_after_takeover, "heartbeat_after_takeover"},
    {PlantedBug::approval_unbound, "approval_unbound"},
    {PlantedBug::ask_is_allow, "ask_is_allow"},
    {PlantedBug::end_over_inbox, "end_over_inbox"},
}};

}  // namespace pawl::sim
