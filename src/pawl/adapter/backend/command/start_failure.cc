#include "pawl/adapter/backend/command/start_failure.h"

#include <unistd.h>

#include <cerrno>

#include "pawl/adapter/backend/command/child_process.h"
#include "pawl/base/describe_errno.h"
#include "pawl/base/program_path.h"

namespace pawl::tool_command {
namespace {

std::string working_directory_remedy(int error) {
  if (error == ENOENT) return "the directory does not exist; create it or name another";
  if (error == ENOTDIR) return "it is not a directory; name one";
  if (error == EACCES) return "it may not be entered; check its permissions";
  return "name another directory";
}

bool exists(const ChildPlan& plan) {
  const std::string& name = plan.argv.front();
  const bool relative = !name.starts_with('/') && !plan.working_directory.empty();
  const std::string path = relative ? plan.working_directory + "/" + name : name;
  return ::access(path.c_str(), F_OK) == 0;
}

std::string missing_file_remedy(const ChildPlan& plan) {
  if (plan.argv.front().find('/') == std::string::npos) {
    return "it is on none of the directories of PATH=" + std::string(find_path(plan.environment)) +
           "; install it, or give its path (with a '/')";
  }
  if (exists(plan)) {
    return "the file exists, but not the interpreter it names; check its first line (#!), also for "
           "a "
           "carriage return at the end, or the loader of the binary";
  }
  return "check the path, which is relative to the working directory";
}

std::string execute_remedy(const ChildPlan& plan, int error) {
  switch (error) {
    case ENOENT:
      return missing_file_remedy(plan);
    case EACCES:
    case EPERM:
      return "make it executable (chmod +x), and check that it is a file on a file system that "
             "allows execution";
    case ENOEXEC:
      return "it is neither a program for this machine nor a script with a first line like "
             "#!/bin/sh; add that line";
    case E2BIG:
      return "the arguments and the environment are too long; pass data on standard input";
    case ETXTBSY:
      return "the file is being written; try again when that is done";
    default:
      return "check the file";
  }
}

}  // namespace

Error describe_start_failure(const ChildPlan& plan, StartStage stage, int error) {
  const std::string what = "cannot start " + plan.argv.front();
  const std::string where = plan.working_directory.empty() ? "" : " in " + plan.working_directory;
  switch (stage) {
    case StartStage::working_directory:
      return {ErrorCode::invalid_argument, what + where +
                                               ": working directory: " + describe_errno(error) +
                                               " (" + working_directory_remedy(error) + ")"};
    case StartStage::execute:
      return {ErrorCode::invalid_argument, what + where + ": " + describe_errno(error) + " (" +
                                               execute_remedy(plan, error) + ")"};
    case StartStage::prepare:
      break;
  }
  return {ErrorCode::unavailable,
          what + ": setting up the process: " + describe_errno(error) + " (try again)"};
}

Error describe_resource_failure(std::string_view what, int error) {
  return {ErrorCode::unavailable,
          "cannot start the command: no " + std::string(what.substr(what.find(' ') + 1)) + ": " +
              describe_errno(error) +
              " (run fewer at a time, or raise the limits on open files and processes)"};
}

}  // namespace pawl::tool_command
