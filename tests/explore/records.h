#pragma once

#include <string>

#include "tensmith/explore/record.h"

namespace tensmith::testing {

inline Record make_record(std::string workload, double seconds, int trial = 0) {
  Record record;
  record.key.workload = std::move(workload);
  record.key.target_kind = "llvm";
  record.key.cpu = "znver3";
  record.key.features = {"+avx2", "+fma"};
  record.space = "test/1";
  record.space_fingerprint = 0x1234abcd5678ef01;
  record.knobs = {{"tile", {{4, 16}, ""}}, {"order", {{1}, "hw"}}, {"unroll", {{8}, ""}}};
  record.seconds = {seconds * 1.5, seconds, seconds * 2.0};
  record.date = "2025-01-31T12:34:56Z";
  record.tensmith_version = "0.1.0";
  record.trial = trial;
  return record;
}

inline Record make_failure(std::string workload, TrialStatus status, std::string error) {
  Record record = make_record(std::move(workload), 1.0);
  record.status = status;
  record.seconds.clear();
  record.error = std::move(error);
  return record;
}

inline Record make_confirmation(std::string workload, double seconds, std::string comparison) {
  Record record = make_record(std::move(workload), seconds);
  record.kind = RecordKind::kConfirmation;
  record.comparison = std::move(comparison);
  return record;
}

}  // namespace tensmith::testing
