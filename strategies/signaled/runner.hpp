#pragma once
// `signaled`: one generated GEMM, whose wave groups are exchanged while it runs. Each wave group
// has a counter; it is incremented as tiles of the group are stored. On a second stream, the
// exchange of a group waits for the group's counter. A persistent GEMM has all SMs for the tiles of
// the first group. Then it leaves comm_ctas of them to the collectives. (With copy engines it
// leaves them to the copies of this rank's own parts; with peer access, to one overlaptune kernel
// that polls the signals itself.) A GEMM that is not persistent (`kHandedOver`) has one CTA for
// each tile; a collective that is ready then gets SMs before tiles that have not begun.

#include "run/strategy_runner.hpp"

namespace overlaptune::run {

template <>
struct RunnerOf<Signaled> {
  [[nodiscard]] static Expected<std::unique_ptr<Plan>> make(const Request& request);
  [[nodiscard]] static std::int64_t workspace_bytes(const Work& work);
  [[nodiscard]] static std::int64_t most_workspace_bytes(const Problem& problem);
};

}  // namespace overlaptune::run
