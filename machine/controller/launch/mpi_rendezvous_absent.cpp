// The functions of mpi_rendezvous.hpp in builds without MPI.

#include "machine/controller/launch/mpi_rendezvous.hpp"

namespace overlaptune::cuda {

Expected<std::optional<LaunchEnvironment>> meet_by_mpi(const LaunchEnvironment& /*launch*/) {
  return std::nullopt;
}

std::optional<Listener> take_mpi_listener() {
  return std::nullopt;
}

}  // namespace overlaptune::cuda
