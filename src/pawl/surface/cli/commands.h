// The commands, one function each; the exit code is the result.
#pragma once

#include "pawl/surface/cli/context.h"

namespace pawl {

int command_run(const CliContext& context);
int command_resume(const CliContext& context);
int command_init(const CliContext& context);
int command_validate(const CliContext& context);
int command_ls(const CliContext& context);
int command_show(const CliContext& context);
int command_logs(const CliContext& context);
int command_attach(const CliContext& context);
int command_explain(const CliContext& context);
int command_verify(const CliContext& context);
int command_replay(const CliContext& context);
int command_diff(const CliContext& context);
int command_fork(const CliContext& context);
int command_export(const CliContext& context);
int command_import(const CliContext& context);
int command_pause(const CliContext& context);
int command_cancel(const CliContext& context);
int command_message(const CliContext& context);
int command_budget(const CliContext& context);
int command_push(const CliContext& context);
int command_approvals(const CliContext& context);
int command_approve(const CliContext& context);
int command_deny(const CliContext& context);
int command_answer(const CliContext& context);
int command_identity(const CliContext& context);
int command_chat(const CliContext& context);
int command_resolve(const CliContext& context);
int command_artifacts(const CliContext& context);
int command_rm(const CliContext& context);
int command_gc(const CliContext& context);
int command_backup(const CliContext& context);
int command_restore(const CliContext& context);
int command_models(const CliContext& context);
int command_trust(const CliContext& context);
int command_doctor(const CliContext& context);
int command_fake_provider(const CliContext& context);
int command_sim(const CliContext& context);
int command_completion(const CliContext& context);
int command_man(const CliContext& context);

}  // namespace pawl
