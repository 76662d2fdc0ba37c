#pragma once
namespace tensmith {
inline constexpr int kFeatureVersion = 1;
}
