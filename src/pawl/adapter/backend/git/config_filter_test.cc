#include "pawl/adapter/backend/git/config_filter.h"

#include <doctest/doctest.h>

namespace pawl::git {
namespace {

std::string listed(const std::vector<Setting>& settings) {
  std::string text;
  for (const Setting& setting : settings) {
    text += setting.name + "\n" + setting.value;
    text += '\0';
  }
  return text;
}

TEST_CASE("settings that start a program or lead elsewhere are left out") {
  for (const char* name : {"core.fsmonitor",
                           "core.hookspath",
                           "core.sshcommand",
                           "core.editor",
                           "core.pager",
                           "core.worktree",
                           "core.attributesfile",
                           "core.excludesfile",
                           "core.gitproxy",
                           "core.askpass",
                           "core.alternaterefscommand",
                           "include.path",
                           "includeif.gitdir:/x.path",
                           "filter.x.clean",
                           "filter.x.smudge",
                           "filter.x.process",
                           "diff.external",
                           "diff.x.command",
                           "diff.x.textconv",
                           "merge.x.driver",
                           "alias.st",
                           "credential.helper",
                           "credential.https://x.helper",
                           "url.ext::sh -c x.insteadof",
                           "gpg.program",
                           "gpg.ssh.defaultkeycommand",
                           "commit.gpgsign",
                           "user.signingkey",
                           "http.extraheader",
                           "http.https://x/.extraheader",
                           "remote.origin.uploadpack",
                           "remote.origin.receivepack",
                           "remote.origin.vcs",
                           "remote.origin.proxy",
                           "remote.origin.promisor",
                           "submodule.x.update",
                           "extensions.worktreeconfig",
                           "sequence.editor",
                           "interactive.difffilter",
                           "man.x.cmd",
                           "browser.x.cmd",
                           "difftool.x.cmd",
                           "mergetool.x.cmd",
                           "pager.log",
                           "trailer.x.command",
                           "uploadpack.packobjectshook",
                           "receive.procreceiverefs",
                           "safe.directory",
                           "protocol.ext.allow",
                           "guitool.x.cmd",
                           "sendemail.smtppass",
                           "init.templatedir",
                           "commit.template",
                           "maintenance.repo",
                           "worktree.x",
                           "x"}) {
    CHECK_MESSAGE(harmless_settings(listed({{name, "x"}})).empty(), name);
  }
}

TEST_CASE("names, branches and remotes are kept, without credentials") {
  const std::vector<Setting> settings =
      harmless_settings(listed({{"user.name", "A \"B\" C\\"},
                                {"branch.a.b.remote", "origin"},
                                {"remote.origin.url", "https://me:secret@example.org/x@y"},
                                {"remote.two.url", "git@example.org:x"}}) +
                        std::string("rerere.enabled\0", 15));
  const std::vector<Setting> expected = {{"user.name", "A \"B\" C\\"},
                                         {"branch.a.b.remote", "origin"},
                                         {"remote.origin.url", "https://example.org/x@y"},
                                         {"remote.two.url", "git@example.org:x"},
                                         {"rerere.enabled", "true"}};
  CHECK(settings == expected);
  const std::string text = config_text({settings[0], settings[1]});
  CHECK(text ==
        "[user]\n\tname = \"A \\\"B\\\" C\\\\\"\n[branch \"a.b\"]\n\tremote = \"origin\"\n");
}

TEST_CASE("a value with a line of its own makes no setting of that line") {
  CHECK(harmless_settings(listed({{"user.name", "x\n[core]\n\tfsmonitor = /tmp/x"}})).empty());
  const std::string long_value(kConfigValueBytesMax + 1, 'x');
  CHECK(harmless_settings(listed({{"user.name", long_value}})).empty());
}

}  // namespace
}  // namespace pawl::git
