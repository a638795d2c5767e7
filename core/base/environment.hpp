#pragma once
// The environment variables of the program and its libraries, in one place. docs/cli.md has a table
// of them.
//
// Variables of others are read by name, through `process_variables`: those of launchers
// (controller/launch), and those of NCCL (nccl_variables.hpp).

#include <functional>
#include <optional>
#include <string>

namespace overlaptune {

/// Returns a variable's value, or none where it is not set. Tests give values of their own.
using Variables = std::function<std::optional<std::string>(const char* name)>;

/// The variables of this process.
[[nodiscard]] const Variables& process_variables();

inline constexpr const char* kDatabaseVariable = "OVERLAPTUNE_DB";
inline constexpr const char* kTimeLimitVariable = "OVERLAPTUNE_TIME_LIMIT";
inline constexpr const char* kWorkerVariable = "OVERLAPTUNE_WORKER";
inline constexpr const char* kRanksPerGpuVariable = "OVERLAPTUNE_RANKS_PER_GPU";
inline constexpr const char* kPortVariable = "OVERLAPTUNE_PORT";
inline constexpr const char* kSecretVariable = "OVERLAPTUNE_SECRET";
inline constexpr const char* kSecretFileVariable = "OVERLAPTUNE_SECRET_FILE";
inline constexpr const char* kTokenVariable = "OVERLAPTUNE_TOKEN";

/// Texts as they are set; who uses one checks it. An empty text counts as not set, but for the
/// fields that say what it means.
struct Environment {
  /// OVERLAPTUNE_DB: the database of commands without `--db`, and of `ovt_open` without a path.
  std::optional<std::string> database{};
  /// OVERLAPTUNE_SYSTEM_DB: the database under the user's, instead of the installed one; empty:
  /// there is to be none.
  std::optional<std::string> system_database{};
  /// OVERLAPTUNE_LOG: the least level of messages that the program logs.
  std::optional<std::string> log{};
  /// NO_COLOR: output has no colours (no-color.org).
  std::optional<std::string> no_color{};

  /// OVERLAPTUNE_CACHE: the folder of compiled kernels.
  std::optional<std::string> cache{};
  /// OVERLAPTUNE_CACHE_MB: most MiB of this folder; 0: no cache.
  std::optional<std::string> cache_mb{};
  /// OVERLAPTUNE_TIME_LIMIT: seconds of every wait for other ranks, where a world gives none.
  std::optional<std::string> time_limit{};

  /// OVERLAPTUNE_WORKER: another worker program than the one beside this program; empty: an error.
  std::optional<std::string> worker{};
  /// OVERLAPTUNE_RANKS_PER_GPU: ranks that share each GPU, for tests on fewer GPUs than ranks
  /// (gpu_sharing.hpp); empty: an error.
  std::optional<std::string> ranks_per_gpu{};
  /// OVERLAPTUNE_PORT: where the ranks of a launcher meet, instead of MASTER_PORT; empty: an error.
  std::optional<std::string> port{};
  /// OVERLAPTUNE_SECRET: the secret that a launcher gives all ranks of a job.
  std::optional<std::string> secret{};
  /// OVERLAPTUNE_SECRET_FILE: the file of the secret otherwise, on a file system that all ranks
  /// share; empty: none.
  std::optional<std::string> secret_file{};
  /// OVERLAPTUNE_TOKEN: the secret of a worker, set by the process that starts it: a command line
  /// would show it to everybody on the host.
  std::optional<std::string> token{};
};

/// Reads the variables anew at each call: a program may change them.
[[nodiscard]] Environment environment(const Variables& variables = process_variables());

}  // namespace overlaptune
