#pragma once

#include "measure.pb.h"
#include "tensmith/explore/measure/build.h"

namespace tensmith {

/// Conversions between our structs and the messages on the wire.
proto::Module to_proto(const BuiltModule& module);
BuiltModule from_proto(const proto::Module& module);

}  // namespace tensmith
