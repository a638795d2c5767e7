#pragma once
// The interface to the abilities of a worker: those of a GPU (gpu_backend.hpp), or a stand-in of
// tests.

#include <functional>
#include <string>

#include "machine/controller/wire/messages.hpp"

namespace overlaptune::cuda {

/// All ranks make the same calls in the same order: each call may communicate with the others. An
/// exception ends the worker after its message was sent. The GPU may be in any state then, and a
/// new process starts afresh.
class Backend {
 public:
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  [[nodiscard]] virtual Device device() = 0;
  /// Rank 0 only: the NCCL id that `join` needs, hexadecimal.
  [[nodiscard]] virtual std::string unique_id() = 0;
  virtual void join(const JoinRequest& request, int rank) = 0;

  /// Compiles kernels before they are needed. A kernel that cannot be compiled is reported when it
  /// is needed.
  virtual void prepare(const PrepareRequest& request) = 0;

  /// Measures a probe. Error: `bad_input` if this machine cannot do it; the same on every rank.
  [[nodiscard]] virtual Expected<Samples> measure(const Probe& probe) = 0;

  /// Checks and times configs; `at` reports the progress to the controller.
  [[nodiscard]] virtual Expected<RunReply> run(const RunRequest& request,
                                               const std::function<void(const RunStep&)>& at) = 0;

 protected:
  Backend() = default;
};

}  // namespace overlaptune::cuda
