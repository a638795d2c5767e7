#include "core/multicast.hpp"

namespace overlaptune {

bool may_use_multicast(const Problem& problem, const Config& config) {
  return collective_of(problem.op) != Collective::all_to_all &&
         (is_nccls(transport_of(config)) || is_nccls(last_transport_of(config)));
}

std::string multicast_in_words(const Problem& problem, const Config& config, bool allowed) {
  if (!may_use_multicast(problem, config)) return "not used: any setting will do";
  return allowed ? "allowed: the times hold where NCCL may use it"
                 : "off: the times hold with NCCL_NVLS_ENABLE=0; with multicast on, NCCL's "
                   "collective takes another time, which was not measured";
}

}  // namespace overlaptune
