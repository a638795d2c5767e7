#include "core/memory_rate.hpp"

#include <array>
#include <cmath>

#include "core/base/text.hpp"

namespace overlaptune {
namespace {

struct MemoryRate {
  std::string_view name;  ///< without the words of the vendor
  double gb_per_s;
  int gb;          ///< of the whole GPU
  int slices = 0;  ///< of its memory, where it can be divided (MIG); else 0
};

/// NVIDIA's data sheets of the products, but for H20, for which sellers state the figures; MIG User
/// Guide, "Supported MIG Profiles". A name is not in the table where products of several rates have
/// it: H800, and H100 with 64 GB or 96 GB.
constexpr std::array<MemoryRate, 21> kMemoryRates{{{"B200", 8000, 180, 8},
                                                   {"GH200 480GB", 4000, 96, 8},
                                                   {"GH200 144G HBM3e", 4900, 144, 8},
                                                   {"H200", 4800, 141, 8},
                                                   {"H200 NVL", 4800, 141, 8},
                                                   {"H100 80GB HBM3", 3350, 80, 8},
                                                   {"H100 NVL", 3938, 94, 8},
                                                   {"H100 PCIe", 2000, 80, 8},
                                                   {"H20", 4000, 96, 8},
                                                   {"A100-SXM4-80GB", 2039, 80, 8},
                                                   {"A100 80GB PCIe", 1935, 80, 8},
                                                   {"A100-SXM4-40GB", 1555, 40, 8},
                                                   {"A100-PCIE-40GB", 1555, 40, 8},
                                                   {"A30", 933, 24, 4},
                                                   {"L40S", 864, 48},
                                                   {"RTX 4090", 1008, 24},
                                                   {"V100-SXM2-16GB", 900, 16},
                                                   {"V100-SXM2-32GB", 900, 32},
                                                   {"V100-PCIE-16GB", 900, 16},
                                                   {"V100-PCIE-32GB", 900, 32},
                                                   {"V100S-PCIE-32GB", 1134, 32}}};

/// "NVIDIA GeForce RTX 4090" -> "RTX 4090".
std::string_view without_vendor(std::string_view name) {
  for (const std::string_view word : {"NVIDIA ", "Tesla ", "GeForce "}) {
    if (name.starts_with(word)) name.remove_prefix(word.size());
  }
  return name;
}

/// The GB of a slice: 40 of "3g.40gb", "1c.3g.40gb" (one of several that compute on it) and
/// "1g.10gb+me" (with media engines). None: another text.
std::optional<int> gb_of_slice(std::string_view slice) {
  slice = slice.substr(0, slice.find('+'));
  const std::size_t dot = slice.rfind('.');
  if (dot == std::string_view::npos || !slice.substr(0, dot).ends_with('g')) return std::nullopt;
  slice.remove_prefix(dot + 1);
  if (!slice.ends_with("gb")) return std::nullopt;
  return parsed<int>(slice.substr(0, slice.size() - 2));
}

/// The slice's share of the GPU's memory, and so of its rate: a whole number of slices. Names round
/// the GB: 71 of 141 are 4 of 8.
std::optional<double> share_of(std::string_view slice, const MemoryRate& whole) {
  const auto gb = gb_of_slice(slice);
  if (!gb || whole.slices == 0) return std::nullopt;
  const double slices = std::round(static_cast<double>(*gb) * whole.slices / whole.gb);
  if (slices < 1 || slices > whole.slices) return std::nullopt;
  return slices / whole.slices;
}

}  // namespace

std::optional<double> data_sheet_memory_gb_per_s(std::string_view gpu_model) {
  constexpr std::string_view kSlice = " MIG ";
  std::string_view name = without_vendor(gpu_model);
  const std::size_t divided = name.find(kSlice);
  const bool is_slice = divided != std::string_view::npos;
  const std::string_view slice = is_slice ? name.substr(divided + kSlice.size()) : "";
  name = name.substr(0, divided);
  for (const MemoryRate& rate : kMemoryRates) {
    if (rate.name != name) continue;
    if (!is_slice) return rate.gb_per_s;
    const auto share = share_of(slice, rate);
    if (!share) return std::nullopt;
    return *share * rate.gb_per_s;
  }
  return std::nullopt;
}

}  // namespace overlaptune
