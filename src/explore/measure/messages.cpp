#include "explore/measure/messages.h"

namespace tensmith {
namespace {

void add_argument(proto::Argument* out, const ModuleArgument& argument) {
  out->set_kind(static_cast<proto::Argument::Kind>(argument.kind));
  out->set_index(argument.index);
}

ModuleArgument argument_of(const proto::Argument& argument) {
  return {static_cast<ModuleArgument::Kind>(argument.kind()), argument.index()};
}

}  // namespace

proto::Module to_proto(const BuiltModule& module) {
  proto::Module out;
  out.set_object(module.object);
  out.set_function(module.function);
  for (const ModuleArgument& argument : module.arguments) {
    add_argument(out.add_arguments(), argument);
  }
  for (const BuiltModule::Pack& pack : module.packs) {
    proto::PackStep* step = out.add_packs();
    step->set_function(pack.function);
    for (const ModuleArgument& argument : pack.arguments) {
      add_argument(step->add_arguments(), argument);
    }
  }
  out.mutable_packed_bytes()->Assign(module.packed_bytes.begin(), module.packed_bytes.end());
  return out;
}

BuiltModule from_proto(const proto::Module& module) {
  BuiltModule out;
  out.object = module.object();
  out.function = module.function();
  for (const proto::Argument& argument : module.arguments()) {
    out.arguments.push_back(argument_of(argument));
  }
  for (const proto::PackStep& step : module.packs()) {
    BuiltModule::Pack& pack = out.packs.emplace_back();
    pack.function = step.function();
    for (const proto::Argument& argument : step.arguments()) {
      pack.arguments.push_back(argument_of(argument));
    }
  }
  out.packed_bytes.assign(module.packed_bytes().begin(), module.packed_bytes().end());
  return out;
}

}  // namespace tensmith
