#include "pawl/adapter/backend/session/container_command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "pawl/adapter/backend/sandbox/cgroup.h"
#include "pawl/adapter/backend/sandbox/own_directory.h"
#include "pawl/adapter/backend/sandbox/seccomp_profile.h"
#include "pawl/base/descriptor.h"
#include "pawl/json.h"

namespace pawl::backend {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kImage = "pawl-empty:1";  // docker's; podman takes a directory
constexpr std::size_t kAnswerBytesMax = std::size_t{64} << 10U;
constexpr std::size_t kSweptMax = 1024;
constexpr std::string_view kLabel = "pawl.host=";
constexpr std::uint64_t kOpenFilesMax = 4096;

struct Answer {
  bool good = false;
  std::string text;
};

// A short question to the engine, which answers at once or never. `timeout` is the system's.
Answer ask(Words words) {
  words.insert(words.begin(), {"timeout", "-k", "1", "20"});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, write_end.number(), 1);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, "timeout", &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return {};
  write_end.reset();
  Answer answer;
  std::array<char, 4096> chunk{};
  for (ssize_t count = 1; count > 0 && answer.text.size() < kAnswerBytesMax;) {
    count = ::read(read_end.number(), chunk.data(), chunk.size());
    if (count > 0) answer.text.append(chunk.data(), static_cast<std::size_t>(count));
  }
  int status = -1;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  answer.good = status == 0;
  return answer;
}

Error refuse(const std::string& what) {
  return {ErrorCode::unavailable, "no container: " + what + " (use `namespace`)"};
}

// Both read mounts as lists with commas, and variables a line each.
Status check_texts(const std::vector<ContainerMount>& mounts, const Words& environment) {
  for (const ContainerMount& mount : mounts) {
    if ((mount.path + mount.source).find_first_of(",\"\n") == std::string::npos) continue;
    return refuse("a path with a comma, a quote or a line's end in it cannot be mounted: " +
                  mount.path);
  }
  for (const std::string& variable : environment) {
    if (variable.find('\n') == std::string::npos) continue;
    return refuse("a variable of several lines cannot be given: " +
                  variable.substr(0, variable.find('=')));
  }
  return ok();
}

void add(Words& words, Words more) {
  words.insert(words.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

std::string mask(const ContainerMount& mount) {
  using Kind = ContainerMount::Kind;
  if (mount.kind == Kind::other) {
    return "type=bind,source=/dev/null,target=" + mount.path + ",readonly";
  }
  return "type=tmpfs,target=" + mount.path +
         (mount.kind == Kind::passage ? ",tmpfs-mode=0111" : ",tmpfs-mode=0000");
}

Words limits_of(const BackendLimits& limits) {
  const std::string memory = std::to_string(limits.memory_bytes);
  const auto both = [](std::uint64_t value) {
    return std::to_string(value) + ":" + std::to_string(value);
  };
  return {"--memory",      memory,
          "--memory-swap", memory,
          "--pids-limit",  std::to_string(limits.processes),
          "--ulimit",      "core=0:0",
          "--ulimit",      "fsize=" + both(limits.disk_bytes),
          "--ulimit",      "nofile=" + both(kOpenFilesMax),
          "--ulimit",      "nproc=" + both(kOpenFilesMax),
          "--tmpfs",       "/tmp:rw,nosuid,nodev,mode=1777,size=" + memory};
}

class CommandContainer final : public Container {
 public:
  CommandContainer(ContainerEngine engine, sandbox::OwnDirectory directory)
      : engine_(engine), directory_(std::move(directory)), id_(sandbox::unique_group_name()) {}
  CommandContainer(const CommandContainer&) = delete;
  CommandContainer& operator=(const CommandContainer&) = delete;
  ~CommandContainer() override {
    if (engine_ == ContainerEngine::podman) {
      remove_groups(id_);
    } else {
      ask({find_program("docker"), "rm", "--force", "--volumes", id_});
    }
  }

  Status prepare(const ContainerPlan& plan);
  Words command() const override { return command_; }
  std::uint64_t memory_kills() const override { return memory_kills_of(id_); }

 private:
  Status write(const std::string& file, const std::string& text) const {
    std::ofstream out(directory_.path() + "/" + file);
    out << text;
    return out.flush() ? ok() : Status(refuse("its files could not be written"));
  }
  Words run(const ContainerPlan& plan, const std::vector<ContainerMount>& mounts) const;

  ContainerEngine engine_;
  sandbox::OwnDirectory directory_;
  std::string id_;
  Words command_;
};

Words CommandContainer::run(const ContainerPlan& plan,
                            const std::vector<ContainerMount>& mounts) const {
  const std::string place = directory_.path();
  const ContainerUser user = user_of(plan.sandbox);
  const bool network = plan.sandbox.network == NetworkAccess::full;
  // Variables are in a file: command lines can be seen by everybody.
  Words words = {"run",
                 "--rm",
                 "--interactive",
                 "--name",
                 id_,
                 "--read-only",
                 "--network",
                 network ? "host" : "none",
                 "--cap-drop",
                 "ALL",
                 "--security-opt",
                 "no-new-privileges",
                 "--security-opt",
                 "seccomp=" + place + "/seccomp.json",
                 "--user",
                 std::to_string(user.user) + ":" + std::to_string(user.group),
                 "--workdir",
                 plan.sandbox.working_directory,
                 "--env-file",
                 place + "/environment",
                 "--log-driver",
                 "none",
                 "--entrypoint",
                 ""};
  add(words, limits_of(plan.sandbox.limits));
  for (const ContainerMount& mount : mounts) {
    if (mount.access == ContainerMount::Access::hidden) {
      add(words, {"--mount", mask(mount)});
      continue;
    }
    const bool read_only = mount.access == ContainerMount::Access::read;
    add(words, {"--mount", "type=bind,source=" + mount.source + ",target=" + mount.path +
                               (read_only ? ",readonly" : "")});
  }
  if (engine_ == ContainerEngine::docker) {
    add(words, {"--pull", "never", "--label", std::string(kLabel) + id_, kImage});
  } else {
    add(words, {"--read-only-tmpfs=false", "--http-proxy=false", "--cgroup-parent", "/" + id_,
                "--rootfs", place + "/rootfs"});
  }
  add(words, plan.argv);
  return words;
}

Status CommandContainer::prepare(const ContainerPlan& plan) {
  const auto mounts = mounts_of(plan);
  PAWL_CHECK(check_texts(mounts, plan.environment));
  std::string environment;
  for (const std::string& variable : plan.environment) environment += variable + "\n";
  PAWL_CHECK(write("environment", environment));
  PAWL_CHECK(write("seccomp.json", write_json(sandbox::seccomp_profile())));
  Words words = {find_program(name(engine_))};
  if (engine_ == ContainerEngine::docker) {
    add(words, run(plan, mounts));
    command_ = std::move(words);
    return ok();
  }
  const std::string place = directory_.path();
  for (const char* part : {"/rootfs", "/store", "/run", "/tmp"}) {
    ::mkdir((place + part).c_str(), 0700);
  }
  ::chmod((place + "/rootfs").c_str(), 0755);
  add(words,
      {"--root", place + "/store", "--runroot", place + "/run", "--tmpdir", place + "/tmp",
       "--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--events-backend", "none"});
  if (!find_program("runc").empty()) add(words, {"--runtime", find_program("runc")});
  add(words, run(plan, mounts));
  // Its locks are in shared memory, by number, and those of one that was killed would stay taken.
  Words outer = {"sh", "-c", "mount -t tmpfs tmpfs /dev/shm && exec \"$@\"", "sh"};
  add(outer, std::move(words));
  command_ = tied_to_host(std::move(outer));
  return ok();
}

// docker has no containers without an image. This one has nothing in it.
Status make_image() {
  const std::string docker = find_program("docker");
  if (ask({docker, "image", "inspect", kImage}).good) return ok();
  if (ask({"sh", "-c", "tar -cf - -T /dev/null | \"$1\" import - \"$2\"", "sh", docker, kImage})
          .good) {
    return ok();
  }
  return refuse(std::string("docker could not import the empty image ") + kImage);
}

}  // namespace

Result<std::unique_ptr<Container>> make_command_container(ContainerEngine engine,
                                                          const ContainerPlan& plan) {
  if (engine == ContainerEngine::docker) PAWL_CHECK(make_image());
  PAWL_TRY(auto directory, sandbox::OwnDirectory::make(sandbox::kBundleDirectory));
  auto made = std::make_unique<CommandContainer>(engine, std::move(directory));
  PAWL_CHECK(made->prepare(plan));
  return std::unique_ptr<Container>(std::move(made));
}

Status check_docker() {
  if (ask({find_program("docker"), "version", "--format", "{{.Server.Version}}"}).good) return ok();
  return Error{ErrorCode::unavailable,
               "docker's daemon does not answer (start it, or join the group `docker`)"};
}

void sweep_docker() {
  const std::string docker = find_program("docker");
  std::istringstream lines(
      ask({docker, "ps", "--all", "--filter", "label=pawl.host", "--format", "{{.Names}}"}).text);
  std::size_t swept = 0;
  for (std::string line; swept < kSweptMax && std::getline(lines, line);) {
    if (!sandbox::is_left_behind(line)) continue;
    ask({docker, "rm", "--force", "--volumes", line});
    ++swept;
  }
}

}  // namespace pawl::backend
