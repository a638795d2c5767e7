#include "run/memory/exchanged_memory.hpp"

namespace overlaptune::run {
namespace {

/// Whether NCCL sends from rank to rank. In a captured graph NCCL 2.28 lets a send write directly
/// into the receiver's memory if the memory of either rank is registered, as the world's is. If the
/// other rank's memory is not registered, the two ranks wait for each other.
bool sends_to_peers(const Problem& problem) {
  return collective_of(problem.op) == Collective::all_to_all;
}

}  // namespace

bool adds_up_in_c(const Problem& problem, Transport transport) {
  return traits_of(problem.op).in_place() && transport != Transport::peer_access;
}

bool exchanges_in_world(const Problem& problem, Transport transport) {
  const OpTraits& op = traits_of(problem.op);
  switch (transport) {
    case Transport::ring:
      return sends_to_peers(problem);
    case Transport::symmetric:
      return true;
    case Transport::copy_engine:  // A is sent from where it is
      return !op.exchanges_first;
    case Transport::peer_access:
      // Others exchange the workspace, into which an all_gather stores and from which the rest
      // load.
      return op.exchanges_first && op.collective != Collective::all_gather;
  }
  return true;
}

}  // namespace overlaptune::run
