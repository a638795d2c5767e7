#include "machine/simulator/phases.hpp"

#include <algorithm>

#include "core/config/strategies.hpp"

namespace overlaptune::sim {
namespace {

/// Code, descriptors and translations of addresses come from memory: an assumption, which no
/// measurement supports yet.
constexpr double kColdStart = 2;

void make_cold(Profile& profile) {
  // Operands come from memory in every phase, because runs rotate between sets of them.
  profile.gpu.kernel_start *= kColdStart;
  profile.library.kernel_start *= kColdStart;
}

void add_copies(GpuProfile& gpu, const Config& config) {
  const int copying = std::clamp(gpu.sms - comm_ctas(config) - 1, 0, kCopySms);
  const double copied = copying * gpu.sm_store;
  for (double* rate : {&gpu.memory_load, &gpu.memory_store}) {
    *rate = std::max(*rate - copied, *rate / 2);  // the GEMM keeps its fair share
  }
  gpu.tensor_flops *= static_cast<double>(gpu.sms - copying) / gpu.sms;
  gpu.sms -= copying;
}

}  // namespace

Profile in_phase(Profile profile, RunPhase phase, const Config& config) {
  if (phase == RunPhase::cold) make_cold(profile);
  if (phase == RunPhase::beside) add_copies(profile.gpu, config);
  return profile;
}

}  // namespace overlaptune::sim
