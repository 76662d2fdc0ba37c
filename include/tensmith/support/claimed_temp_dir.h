#pragma once

#include <filesystem>
#include <string_view>

#include "tensmith/support/fd.h"

namespace tensmith {

/// A directory as TempDir, of which a later process knows when this one was killed: it holds a file that is locked
/// while this lives. That file goes last, so that a removal which ends midway is gone on with.
class ClaimedTempDir {
 public:
  /// First removes the directories of this prefix beside it whose owners are gone: those that have such a file, which
  /// nobody has locked, and that belong to this user. Throws WorkError as TempDir.
  explicit ClaimedTempDir(std::string_view prefix);
  ~ClaimedTempDir();
  ClaimedTempDir(const ClaimedTempDir&) = delete;
  ClaimedTempDir& operator=(const ClaimedTempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  bool claim();

  std::filesystem::path path_;
  UniqueFd lock_;
};

}  // namespace tensmith
