#include "tests/gpu/plan_check/shared_gpus.hpp"

#include <cstdlib>
#include <string_view>

#include "core/config/check.hpp"
#include "run/check.hpp"
#include "tests/gpu/plan_check/nodes.hpp"

namespace overlaptune::plan_check {
namespace {

constexpr const char* kReason = " share ";

/// Whether the NCCL of the process and its variables give windows.
bool has_windows() {
  const auto off = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && std::string_view(value) == "0";
  };
  const bool lacks = std::string_view(ovt_run_nccl()).find("ncclTeamLsa") != std::string_view::npos;
  return !lacks && !off("NCCL_CUMEM_ENABLE") && !off("NCCL_WIN_ENABLE");
}

/// A row: every rank must be refused with this status, for the reason that ranks share a GPU.
void refused(Bench& bench, Results& results, const char* name, ovt_status status,
             ovt_status expected, const std::string& error) {
  const bool here = status == expected && error.find(kReason) != error.npos;
  results.row(name, bench.largest(here ? 0 : 1) == 0, status == OVT_OK ? "was not refused" : error);
}

}  // namespace

std::string obstacle(const Placement& placement, const Config& config) {
  if (placement.nodes > 1 && needs_peers(config)) return "needs the memory of peers on other nodes";
  if (transport_of(config) != Transport::symmetric) return "";
  if (placement.shares_gpus()) return "NCCL's windows do not serve ranks that share a GPU";
  if (placement.gives_memory) return "the caller's memory is no window of NCCL";
  int nccl = 0;
  OVT_CHECK(ncclGetVersion(&nccl));
  constexpr int kEnding = 22907;
  if (nccl < kEnding) return "the symmetric kernels of this NCCL never end where a rank is lost";
  return has_windows() ? "" : "NCCL has no windows that serve here";
}

void check_shared_refusals(Bench& bench, Results& results) {
  const int ranks = bench.process().ranks();
  const Problem of{.op = Op::gemm_all_reduce,
                   .m = ranks * 256,
                   .n = 256,
                   .k = 256,
                   .elements = Elements::bf16,
                   .ranks = ranks};
  const MadePlan plan(bench, of, Sequential{.transport = Transport::symmetric});
  refused(bench, results, "symmetric windows on a shared GPU", plan.status(), OVT_ERROR_ARGUMENT,
          plan.error());
  ovt_platform platform{};
  platform.size = sizeof platform;
  const ovt_status detected = ovt_platform_detect(bench.world(), &platform);
  refused(bench, results, "a platform of shared GPUs", detected, OVT_ERROR_UNAVAILABLE,
          ovt_run_last_error());
}

}  // namespace overlaptune::plan_check
