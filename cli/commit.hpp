#pragma once
// The commit of this build.

namespace overlaptune::cli {

/// `0afe391`, or `0afe391-changed` where files differed from it; empty where git did not tell
/// (cmake/Commit.cmake).
[[nodiscard]] const char* commit();

}  // namespace overlaptune::cli
