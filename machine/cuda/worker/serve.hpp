#pragma once
// A worker's side of the conversation in wire/wire.hpp. Its whole main is
//
//   int main(int argc, char** argv) {
//     return run_worker(argc, argv, [](const WorkerOptions& options) {
//       return std::make_unique<GpuBackend>(options.local_rank);
//     });
//   }

#include <functional>
#include <memory>
#include <string>

#include "machine/cuda/wire/connection.hpp"
#include "machine/cuda/worker/backend.hpp"

namespace overlaptune::cuda {

/// In whose value the controller hands the token to its workers: not on the command line, which
/// everybody on the host may read.
inline constexpr const char* kTokenVariable = "OVERLAPTUNE_TOKEN";

struct WorkerOptions {
  std::string host;  ///< of the controller
  int port = 0;
  int rank = 0;
  int local_rank = 0;  ///< which GPU of this host
  std::string token;
};

/// `--connect HOST:PORT --rank R --local-rank L`, and the token from the environment.
/// Error: a flag that is missing, unknown or malformed.
[[nodiscard]] Expected<WorkerOptions> worker_options(int argc, const char* const* argv);

/// Connects, makes the backend, and serves. What the making throws is told to the controller. After
/// a failure the process ends here, without any destructor: the GPU may be in any state.
/// The exit code: 0 after `quit` or once the controller is gone, 1 after a failure, 2 for wrong
/// flags, 3 if nobody listens.
[[nodiscard]] int run_worker(
    int argc, const char* const* argv,
    const std::function<std::unique_ptr<Backend>(const WorkerOptions&)>& make);

/// Says hello and answers commands until `quit` or the end of the connection, which means that the
/// controller is gone. What the backend throws is told to the controller and ends it, nonzero.
[[nodiscard]] int serve(Connection connection, int rank, const std::string& token,
                        const std::string& version, Backend& backend);

}  // namespace overlaptune::cuda
