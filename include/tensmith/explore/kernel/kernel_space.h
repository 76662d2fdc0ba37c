#pragma once

#include <string>
#include <vector>

#include "tensmith/explore/kernel/kernel.h"
#include "tensmith/schedule/config_space.h"

namespace tensmith {

/// The configs of a kernel: a knob for each parameter, in their order; a constraint for each restriction, and one that
/// the block and grid exist. A restriction that divides by zero or overflows does not hold. Throws UserError for a
/// kernel without parameters, and for a parameter that neither the source nor an expression uses.
ConfigSpace kernel_space(const KernelSpec& spec);

/// The first values; where the restrictions forbid them, the valid config of the least index (of a space with over
/// a million points, one that is drawn when none of the first million is valid). Throws UserError, naming what the
/// restrictions exclude, when none is found.
Config default_kernel_config(const KernelSpec& spec, const ConfigSpace& space);

/// "NAME=VALUE" of each parameter, as macros are defined.
std::vector<std::string> kernel_defines(const KernelSpec& spec, const Config& config);

/// The launch of a valid config.
KernelLaunch kernel_launch(const KernelSpec& spec, const Config& config);

}  // namespace tensmith
