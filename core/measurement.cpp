#include "core/measurement.hpp"

#include <type_traits>

#include <fmt/format.h>

namespace overlaptune {
namespace {

std::string line(const GemmProbe& probe) {
  return fmt::format("gemm {}x{}x{} {} tile={} stages={} cluster={} swizzle={} sms={}", probe.m,
                     probe.n, probe.k, to_string(probe.elements), to_string(probe.tile),
                     probe.tile.stages, probe.tile.cluster, probe.swizzle, probe.sms);
}

std::string line(const CollectiveProbe& probe) {
  return fmt::format("{} {} bytes ranks={} ctas={} transport={}", to_string(probe.collective),
                     probe.bytes.count, probe.ranks, probe.comm_ctas, to_string(probe.transport));
}

std::string line(const ConcurrentProbe& probe) {
  return line(probe.gemm) + " beside " + line(probe.collective);
}

std::string line(const SustainedProbe& probe) {
  return line(probe.gemm) + " in turn with " + line(probe.collective);
}

std::string line(const CopyProbe& probe) {
  return fmt::format("copy {} bytes ctas={}", probe.bytes.count, probe.ctas);
}

std::string line(const LaunchProbe& probe) {
  return fmt::format("launch {}", to_string(probe.cost));
}

std::string line(const PeerProbe& probe) {
  return fmt::format("copy {} bytes from={} to={}", probe.bytes.count, probe.from, probe.to);
}

std::string line(const LayerProbe& probe) {
  return fmt::format("layer {} {} ranks={}", to_string(probe.work), probe.amount, probe.ranks);
}

}  // namespace

const GemmProbe* gemm_of(const Probe& probe) {
  return std::visit(
      [](const auto& own) -> const GemmProbe* {
        using Own = std::remove_cvref_t<decltype(own)>;
        if constexpr (std::is_same_v<Own, GemmProbe>) return &own;
        if constexpr (requires { own.gemm; }) return &own.gemm;
        return nullptr;
      },
      probe);
}

std::string to_string(const Probe& probe) {
  return std::visit([](const auto& alternative) { return line(alternative); }, probe);
}

}  // namespace overlaptune
