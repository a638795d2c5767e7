#pragma once
// Machines made of fake workers.

#include <string>

#include "machine/controller/cuda_machine.hpp"
#include "tests/machine/controller/acts.hpp"

namespace overlaptune::cuda {

/// An environment variable, for as long as this lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value);
  ~Variable();
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  std::string name_;
};

/// Time limits that a busy host keeps, unless something hangs.
[[nodiscard]] Limits short_limits();

/// The fake worker's program (fake_worker.cpp).
[[nodiscard]] std::string fake_worker();

[[nodiscard]] CudaOptions fake_options(int ranks);

/// `ranks` fake workers on this host, not started yet.
[[nodiscard]] std::unique_ptr<WorkerPool> fake_pool(int ranks, const PoolOptions& options = {});

}  // namespace overlaptune::cuda
