// Everything a host of Pawl needs.
#pragma once

#include "pawl/adapter/executor_scripted/script.h"
#include "pawl/app/library/generate.h"
#include "pawl/app/library/runner.h"
#include "pawl/runtime/agent.h"
#include "pawl/runtime/callbacks.h"
#include "pawl/runtime/event_json.h"
#include "pawl/runtime/invocation.h"
#include "pawl/runtime/machine_step.h"
#include "pawl/runtime/native_tool.h"
#include "pawl/runtime/processors/processors_reader.h"
#include "pawl/runtime/processors/shipped_processors.h"
#include "pawl/runtime/secret_filter/handle_text.h"
#include "pawl/runtime/secret_filter/secret_filter.h"
#include "pawl/runtime/tools/execute_call.h"
