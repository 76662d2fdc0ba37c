#pragma once

#include <filesystem>
#include <string_view>

#include "tensmith/support/fd.h"
#include "tensmith/support/file.h"

namespace tensmith {

/// A directory as TempDir, of which a later process knows when this one was killed: it holds a file that is locked
/// while this lives.
class ClaimedTempDir {
 public:
  /// First removes the directories of this prefix beside it whose owners are gone: those that have such a file, which
  /// nobody has locked, and that belong to this user. Throws WorkError as TempDir.
  explicit ClaimedTempDir(std::string_view prefix);

  const std::filesystem::path& path() const { return directory_.path(); }

 private:
  bool claim();

  TempDir directory_;
  UniqueFd lock_;
};

}  // namespace tensmith
