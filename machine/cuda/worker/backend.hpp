#pragma once
// What a worker can do: on a GPU (gpu_backend.hpp), or pretended by tests.

#include <functional>
#include <string>

#include "machine/cuda/wire/messages.hpp"

namespace overlaptune::cuda {

/// Called by all ranks alike and in the same order: each call may communicate with the others.
/// A thrown exception ends the worker after its message was sent: whatever state the GPU is in, a
/// new process has none of it.
class Backend {
 public:
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  [[nodiscard]] virtual Device device() = 0;
  /// Rank 0 only: what `join` needs, hexadecimal.
  [[nodiscard]] virtual std::string unique_id() = 0;
  virtual void join(const JoinRequest& request, int rank) = 0;

  /// Ahead of what needs it; what cannot be made is told then.
  virtual void prepare(const PrepareRequest& request) = 0;

  /// Error: `bad_input` where this machine cannot do it; the same on every rank.
  [[nodiscard]] virtual Expected<Samples> measure(const Probe& probe) = 0;

  /// `at` tells the controller how far it is.
  [[nodiscard]] virtual Expected<RunReply> run(const RunRequest& request,
                                               const std::function<void(const RunStep&)>& at) = 0;

 protected:
  Backend() = default;
};

}  // namespace overlaptune::cuda
