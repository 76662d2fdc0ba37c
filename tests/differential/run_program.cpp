#include "differential/run_program.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "tensmith/codegen/c_source.h"
#include "tensmith/codegen/llvm/jit.h"
#include "tensmith/codegen/llvm/llvm_codegen.h"
#include "tensmith/ir/interpret.h"
#include "tensmith/runtime/runtime.h"
#include "tensmith/schedule/reference.h"
#include "tensmith/schedule/trace.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"
#include "tensmith/support/rng.h"
#include "tensmith/support/subprocess.h"

namespace tensmith {

Operands::Operands(const Program& program, uint64_t seed, bool whole) {
  Rng rng(seed);
  for (const Tensor& input : program.inputs) {
    Operand& operand = add(input->buffer);
    operand.input = true;
    std::vector<double> values(operand.size);
    for (double& x : values) {
      x = whole || !operand.type.is_float() ? static_cast<double>(rng.uniform_int(-4, 4)) : rng.uniform_real() * 2 - 1;
    }
    from_doubles(operand.type, values, operand.aligned);
    inputs_.push_back(operand.aligned);
  }
}

Operands::Operand& Operands::add(Buffer buffer) {
  constexpr size_t kLine = 64;
  auto operand = std::make_unique<Operand>();
  operand->name = std::string(buffer->name);
  operand->type = buffer->type;
  operand->size = static_cast<size_t>(buffer_size(buffer));
  operand->memory.resize(operand->size * static_cast<size_t>(buffer->type.element_bytes()) + 2 * kLine);
  const auto start = reinterpret_cast<uintptr_t>(operand->memory.data());
  operand->aligned = operand->memory.data() + (kLine - start % kLine) % kLine;
  clear(*operand);
  operands_.push_back(std::move(operand));
  return *operands_.back();
}

void Operands::clear(Operand& operand) {
  const std::vector<double> values(operand.size, operand.type.is_float() ? NAN : -1000);
  from_doubles(operand.type, values, operand.aligned);
}

void* Operands::of(Buffer buffer) {
  // Packed operands of two configs share a name and may differ in size.
  const auto size = static_cast<size_t>(buffer_size(buffer));
  for (const auto& operand : operands_) {
    if (operand->name == buffer->name && operand->size == size) return operand->aligned;
  }
  return add(buffer).aligned;
}

std::vector<void*> Operands::arguments(const Function& function) {
  std::vector<void*> out;
  for (Buffer b : function.inputs) out.push_back(of(b));
  for (Buffer b : function.outputs) out.push_back(of(b));
  return out;
}

void Operands::reset_outputs() {
  for (const auto& operand : operands_) {
    if (!operand->input) clear(*operand);
  }
}

const char* name_of(Backend backend) {
  return backend == Backend::kInterpreter ? "interpreter" : backend == Backend::kLlvm ? "LLVM" : "C";
}

namespace {

std::vector<Function> in_order(const LoweredModule& module) {
  std::vector<Function> functions = module.packs;
  functions.push_back(module.main);
  return functions;
}

void check_status(int status) {
  if (status != 0) throw WorkError(fmt::format("the function returned {}", status));
}

void run_llvm(const std::vector<Function>& functions, const Target& target, Operands& operands) {
  const CompiledModule compiled = compile(functions, target);
  const NativeSymbol symbols[] = {{"tensmith_alloc", reinterpret_cast<void*>(&tensmith_alloc)},
                                  {"tensmith_free", reinterpret_cast<void*>(&tensmith_free)},
                                  {"tensmith_parallel_for", reinterpret_cast<void*>(&tensmith_parallel_for)}};
  const LoadedModule loaded = LoadedModule::load(compiled.object, symbols);
  for (const Function& f : functions) {
    check_status(loaded.packed_entry(f.name)(operands.arguments(f).data()));
  }
}

void run_c(const std::vector<Function>& functions, Operands& operands) {
  const TempDir dir;
  const std::string source = (dir.path() / "f.c").string(), library = (dir.path() / "f.so").string();
  write_file(source, c_source(functions));
  SpawnOptions options;
  options.argv = {"cc",
                  "-std=c11",
                  "-O0",
                  "-Wall",
                  "-Werror",
                  "-Wno-unused",
                  "-shared",
                  "-fPIC",
                  "-I" TENSMITH_SOURCE_DIR "/include",
                  source,
                  "-o",
                  library,
                  "-L" TENSMITH_BINARY_DIR "/lib",
                  "-ltensmith_runtime",
                  "-Wl,-rpath," TENSMITH_BINARY_DIR "/lib",
                  "-lm"};
  const CapturedRun compiled = run_captured(options, 120);
  if (!compiled.status.success()) throw WorkError("cc: " + compiled.err);
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw WorkError(fmt::format("dlopen: {}", dlerror()));
  for (const Function& f : functions) {
    const auto entry = reinterpret_cast<PackedEntry>(dlsym(handle, fmt::format("{}_packed", f.name).c_str()));
    check_status(entry(operands.arguments(f).data()));
  }
  dlclose(handle);
}

}  // namespace

void run(Backend backend, const LoweredModule& module, const Target& target, Operands& operands,
         int64_t max_iterations) {
  operands.reset_outputs();
  const std::vector<Function> functions = in_order(module);
  switch (backend) {
    case Backend::kInterpreter:
      for (const Function& f : functions) interpret(f, operands.arguments(f), {.max_iterations = max_iterations});
      return;
    case Backend::kLlvm: run_llvm(functions, target, operands); return;
    case Backend::kC: run_c(functions, operands); return;
  }
}

std::string keep_failure(const Task& task, const Config& config, Backend backend, const std::string& what) {
  const std::filesystem::path dir = std::filesystem::path(TENSMITH_BINARY_DIR) / "differential_failures";
  std::filesystem::create_directories(dir);
  const std::string path = (dir / fmt::format("{}_{:x}_{}.txt", name_of(backend),
                                              std::hash<std::string>()(task.workload), task.space.index_of(config)))
                               .string();
  write_file(path, fmt::format("# {}\n# back end: {}\n# target: {}\n# config {}: {}\n# {}\n{}", task.workload,
                               name_of(backend), to_string(task.target), task.space.index_of(config),
                               task.space.to_string(config), what, print_trace(task.instantiate(config))));
  return path;
}

}  // namespace tensmith
