#include "core/multicast.hpp"

namespace overlaptune {
namespace {

bool has_nccls(const GroupTransports& transports) {
  return is_nccls(transports.beside_gemm) || is_nccls(transports.last);
}

bool has_nccls(Transport transport) {
  return is_nccls(transport);
}

}  // namespace

bool may_use_multicast(const Problem& problem, const Config& config) {
  if (collective_of(problem.op) == Collective::all_to_all) return false;
  return std::visit(
      [](const auto& own) {
        if constexpr (requires { own.transport; }) {
          return has_nccls(own.transport);
        } else {
          return false;  // no collective at all
        }
      },
      config);
}

std::string multicast_in_words(const Problem& problem, const Config& config, bool allowed) {
  if (!may_use_multicast(problem, config)) return "not used: any setting will do";
  return allowed ? "allowed: the times hold where NCCL may use it"
                 : "off: the times hold with NCCL_NVLS_ENABLE=0; with multicast on, NCCL's "
                   "collective takes another time, which was not measured";
}

}  // namespace overlaptune
