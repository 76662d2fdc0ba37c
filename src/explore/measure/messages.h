#pragma once

#include "measure.pb.h"
#include "tensmith/explore/measure/build.h"

namespace tensmith {

/// Conversions between our structs and the messages on the wire.
proto::WorkloadSpec to_proto(const WorkloadSpec& spec);
WorkloadSpec from_proto(const proto::WorkloadSpec& spec);
proto::Module to_proto(const BuiltModule& module);
BuiltModule from_proto(const proto::Module& module);

}  // namespace tensmith
