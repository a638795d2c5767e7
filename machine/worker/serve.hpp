#pragma once
// A worker's side of the messages in wire/wire.hpp. The whole main function of a worker is

#include <functional>
#include <memory>
#include <string>

#include "machine/controller/wire/connection.hpp"
#include "machine/worker/backend.hpp"

namespace overlaptune::cuda {

struct WorkerOptions {
  std::string host;  ///< host of the controller
  int port = 0;
  int rank = 0;
  int local_rank = 0;  ///< number of the GPU on this host
  std::string secret;  ///< proves to the controller that it started this worker
};

/// Reads `--connect HOST:PORT --rank R --local-rank L`, and the secret from the environment.
/// Error: a flag that is missing, unknown or malformed.
[[nodiscard]] Expected<WorkerOptions> worker_options(int argc, const char* const* argv);

/// Connects, proves the secret, makes the backend, and serves. An exception of `make` is reported
/// to the controller. The process always ends here, without any destructor, because the GPU may be
/// in any state. The exit code: 0 after `quit` or once the controller is gone, 1 after a failure, 2
/// for wrong flags, 3 if the controller cannot be reached.
[[nodiscard]] int run_worker(
    int argc, const char* const* argv,
    const std::function<std::unique_ptr<Backend>(const WorkerOptions&)>& make);

/// Says hello and answers commands until `quit` or the end of the connection, which means that the
/// controller is gone. An exception of the backend is reported to the controller and ends the loop.
/// Returns the exit code.
[[nodiscard]] int serve(Connection connection, int rank, const std::string& version,
                        Backend& backend);

}  // namespace overlaptune::cuda
