#pragma once

namespace tensmith {

/// Trials have seconds, recorded spaces milliseconds.
inline constexpr double kMillisecondsPerSecond = 1e3;
inline constexpr double kSecondsPerMillisecond = 1e-3;

}  // namespace tensmith
