#pragma once

namespace tensmith::runtime {

/// Number of physical cores that the calling thread may run on: of the hardware threads of one core, those allowed
/// count once. At least 1.
int allowed_physical_cores();

}  // namespace tensmith::runtime
