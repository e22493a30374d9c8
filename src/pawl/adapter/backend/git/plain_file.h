// Files that somebody else may have put there: read and replaced without following a link, and
// never more than was said.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "pawl/base/descriptor.h"
#include "pawl/result.h"

namespace pawl::git {

struct Owner {
  uid_t user = 0;
  gid_t group = 0;
};
// Gives a file that a host has made which is root; others own what they make.
void give_to(int file, const Owner& owner);

// A regular file, by its path or beneath a directory. not_found; limit_exceeded: it is larger.
Result<std::string> read_plain_file(const std::string& path, std::uint64_t bytes_max);
Result<std::string> read_plain_beneath(int directory, const std::string& name,
                                       std::uint64_t bytes_max);

// A directory beneath another, without a link on the way; made if it is not there.
Result<Descriptor> make_beneath(int directory, const std::string& name, const Owner& owner);

// Replaces a file as a whole. Its directory must be there; a link in its place is replaced.
Status replace_beneath(int directory, const std::string& name, std::string_view text,
                       const Owner& owner);

// When a file was written last; nothing if it is none. git tells by its index's time which entries
// it must look at again, so a copy has the time of what it is a copy of.
std::optional<timespec> time_of(const std::string& path);
void set_time(int directory, const std::string& name, const timespec& time);

// As git does it: takes name.lock, asks whether all is as it should be, writes, renames. conflict:
// somebody else has the lock. What `still` says otherwise is given back.
Status replace_locked(int directory, const std::string& name, std::string_view text,
                      const Owner& owner, const std::function<Status()>& still);

}  // namespace pawl::git
