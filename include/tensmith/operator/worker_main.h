#pragma once

#include <optional>

namespace tensmith {

/// To be called at the begin of main in every program that tunes or measures, before it does anything else:
///
///     int main(int argc, char** argv) {
///       if (const std::optional<int> code = tensmith::run_worker_if_asked(argc, argv)) return *code;
///
/// LocalMeasurer starts the program again as its workers. In such a process this serves until the measuring process
/// closes the connection and returns the exit code; in any other it returns nothing at once.
std::optional<int> run_worker_if_asked(int argc, char** argv);

}  // namespace tensmith
