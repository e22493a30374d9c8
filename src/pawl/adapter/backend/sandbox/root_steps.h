// How the root directory of a mount namespace is put together: a list of steps, made by the host
// and carried out by a child that may not allocate.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/adapter/backend/sandbox/landlock_rules.h"
#include "pawl/adapter/backend/sandbox/protected_places.h"
#include "pawl/adapter/backend/sandbox/sandbox_plan.h"

namespace pawl::sandbox {

struct Step {
  enum class Kind : std::uint8_t {
    make_directory,  // also its parents, one step each; one that exists is fine
    make_file,       // target, with `source` as its text; one that exists is fine
    link,            // target -> source
    mount,           // source on target, type, flags, data
    bind_held,       // source on target, if it is what `descriptor` holds
    attach,          // the detached mount `descriptor` on target
    make_mask,       // target, an empty file that cannot be read
    restrict_mount,  // adds the attributes `flags` to the mount at target and all beneath
    pivot,           // target becomes the root; the old one goes to source
    enter,           // chdir to target
    detach,          // umount target, lazily
    open,            // target, O_PATH; the descriptor is the host's, in `descriptor`
  };
  enum class Failure : std::uint8_t { fatal, fine };
  Kind kind = Kind::make_directory;
  const char* source = nullptr;
  const char* target = nullptr;
  const char* type = nullptr;
  const char* data = nullptr;
  unsigned long flags = 0;
  Failure failure = Failure::fatal;
  int descriptor = -1;
  int error = 0;  // written by the child
};

// A mount that the host has made beforehand, because only it may (see host_identity.h).
struct DetachedMount {
  std::string path;  // inside
  int descriptor = -1;
};

class RootSteps {
 public:
  RootSteps(const SandboxPlan& plan, const std::vector<DetachedMount>& detached,
            const std::vector<ProtectedPlace>& places);
  RootSteps(const RootSteps&) = delete;
  RootSteps& operator=(const RootSteps&) = delete;

  std::vector<Step>& steps() { return steps_; }
  // Those of the steps that open an object of a rule come last, in the order of the rules.
  const std::vector<LandlockRule>& rules() const { return rules_; }
  // The private /proc could be mounted; asked after the steps were carried out.
  bool has_proc() const { return steps_[proc_step_].error == 0; }

 private:
  const char* keep(std::string text);
  Step& add(Step::Kind kind, std::string_view target, std::string_view source = {});
  void make_parents(const std::string& inside);
  void mount(std::string_view source, std::string_view target, const char* type,
             unsigned long flags, std::string data = {});
  void bind(const std::string& path, unsigned long attributes);
  void bind_root(const std::string& path, unsigned long attributes);
  void bind(const std::string& source, const std::string& target, unsigned long attributes);
  void restrict_mount(std::string_view target, unsigned long attributes);
  void begin();
  void bind_system();
  void write_configuration();
  void make_devices();
  void make_temporary();
  void bind_roots(const std::vector<DetachedMount>& detached);
  void hide(const std::string& path, bool directory);
  void protect(const std::vector<ProtectedPlace>& places);
  void bind_mounts(const std::vector<DetachedMount>& detached);
  void mask_programs();
  void finish();
  void open_rules();

  const SandboxPlan& plan_;
  std::deque<std::string> texts_;
  std::vector<Step> steps_;
  std::vector<LandlockRule> rules_;
  std::vector<std::string> made_;  // directories that have a step already
  std::size_t proc_step_ = 0;
};

}  // namespace pawl::sandbox
