#include "run/own_gemm.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <cuda.h>

#include <fmt/format.h>

#include "core/error.hpp"

namespace overlaptune::run {
namespace {

/// Kernels are made for so many groups at a time: their tensor maps are parameters.
constexpr std::array<int, 3> kGroupCounts{1, 16, 192};

// What the kernel takes, as kernels/device/hopper_gemm.cu declares it.
struct Group {
  int end;
  int first_row;
};
struct OrderHead {
  int panels;
  int blocks;
  int columns;
  int raster;
  int tiles;
  int k_steps;
  std::uint32_t* counters;
};

using Encode = decltype(&cuTensorMapEncodeTiled);

Encode encode_tiled() {
  static const Encode entry = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    OVT_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                               cudaEnableDefault, &result));
    if (result != cudaDriverEntryPointSuccess) {
      throw Failure(ErrorKind::machine_unavailable, "cuTensorMapEncodeTiled: not in this driver");
    }
    return reinterpret_cast<Encode>(found);
  }();
  return entry;
}

struct Matrix {
  const void* base = nullptr;
  std::int64_t columns = 0;
  std::int64_t rows = 0;
  std::int64_t blocks = 1;
  std::int64_t row_stride = 0;    ///< elements
  std::int64_t block_stride = 0;  ///< elements
};

/// Blocks of rows, of which a box of `rows` by `columns` is copied at a time; what lies outside a
/// block is read as zero and not written. Rows in shared memory are swizzled as wide as they are.
CUtensorMap tensor_map(const Matrix& matrix, int columns, int rows, Dtype dtype) {
  const std::array<cuuint64_t, 3> size{static_cast<cuuint64_t>(matrix.columns),
                                       static_cast<cuuint64_t>(matrix.rows),
                                       static_cast<cuuint64_t>(matrix.blocks)};
  const std::array<cuuint64_t, 2> strides{
      static_cast<cuuint64_t>(matrix.row_stride * kElementBytes),
      static_cast<cuuint64_t>(matrix.block_stride * kElementBytes)};
  const std::array<cuuint32_t, 3> box{static_cast<cuuint32_t>(columns),
                                      static_cast<cuuint32_t>(rows), 1};
  const std::array<cuuint32_t, 3> steps{1, 1, 1};
  const CUtensorMapSwizzle swizzle = columns == 64   ? CU_TENSOR_MAP_SWIZZLE_128B
                                     : columns == 32 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                     : CU_TENSOR_MAP_SWIZZLE_32B;
  CUtensorMap map{};
  const CUresult code = encode_tiled()(
      &map,
      dtype == Dtype::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3,
      const_cast<void*>(matrix.base), size.data(), strides.data(), box.data(), steps.data(),
      CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (code != CUDA_SUCCESS) {
    throw Failure(ErrorKind::bad_input,
                  fmt::format("cuTensorMapEncodeTiled: error {} for {} x {} x {} elements",
                              static_cast<int>(code), matrix.blocks, matrix.rows, matrix.columns));
  }
  return map;
}

std::string architecture() {
  int device = 0;
  cudaDeviceProp properties{};
  OVT_CHECK(cudaGetDevice(&device));
  OVT_CHECK(cudaGetDeviceProperties(&properties, device));
  return fmt::format("sm_{}{}{}", properties.major, properties.minor,
                     properties.major == 9 ? "a" : "");
}

Expected<kernels::Cubin> compiled(const kernels::KernelSource& source, const std::string& target) {
  const auto compiler = kernels::Compiler::load();
  if (!compiler) return tl::make_unexpected(compiler.error());
  const auto options = kernels::cubin_cache_options();
  if (!options) return tl::make_unexpected(options.error());
  const kernels::CubinCache cache(*options);
  const std::string key = compiler->key(source, target);
  if (auto known = cache.find(key)) return std::move(*known);
  auto made = compiler->compile(source, target);
  if (!made) return made;
  if (made->properties.spill_bytes > 0 || made->properties.local_bytes > 0) {
    return bad_input(to_string(source) + ": its sums do not fit the registers");
  }
  cache.store(key, *made);
  return made;
}

}  // namespace

OwnGemm::OwnGemm(const kernels::HopperLayout& layout, Dtype dtype, int groups,
                 const std::string& cubin)
    : layout_(layout), dtype_(dtype), most_groups_(groups) {
  cudaLibrary_t library = nullptr;
  OVT_CHECK(cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  library_ = Handle<cudaLibrary_t, &cudaLibraryUnload>(library);
  OVT_CHECK(cudaLibraryGetKernel(&kernel_, library, "hopper_gemm"));
  // Also loads it now: not while something waits.
  OVT_CHECK(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel_),
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, layout.shared_bytes));
}

void OwnGemm::enqueue(cudaStream_t stream, const TileOrder& order, int sms,
                      const OwnOperands& operands, std::uint32_t* counters) const {
  const std::int64_t k = operands.k - operands.left_out_k;
  const std::int64_t tiles = order.tiles() - operands.left_out_tiles;
  if (tiles <= 0) return;
  const Matrix a{.base = operands.a,
                 .columns = k,
                 .rows = order.block_rows,
                 .blocks = order.blocks,
                 .row_stride = operands.k,
                 .block_stride = order.block_rows * operands.k};
  const Matrix b{.base = operands.b,
                 .columns = k,
                 .rows = order.n,
                 .row_stride = operands.k,
                 .block_stride = order.n * operands.k};
  CUtensorMap a_map = tensor_map(a, 64, order.block_m, dtype_);
  CUtensorMap b_map = tensor_map(b, 64, order.block_n, dtype_);
  std::vector<CUtensorMap> c_maps(static_cast<std::size_t>(most_groups_));
  std::vector<std::byte> head(sizeof(OrderHead) +
                              sizeof(Group) * static_cast<std::size_t>(most_groups_));
  const OrderHead fields{
      .panels = static_cast<int>(order.panels_per_block()),
      .blocks = order.blocks,
      .columns = static_cast<int>(order.columns()),
      .raster = static_cast<int>(std::min<std::int64_t>(order.raster, order.panels_per_block())),
      .tiles = static_cast<int>(tiles),
      .k_steps = static_cast<int>((k + 63) / 64),
      .counters = counters};
  std::memcpy(head.data(), &fields, sizeof fields);
  for (std::size_t i = 0; i < operands.groups.size(); ++i) {
    const OwnGroup& group = operands.groups[i];
    const Group entry{static_cast<int>(group.end), static_cast<int>(group.first_row)};
    std::memcpy(head.data() + sizeof fields + i * sizeof entry, &entry, sizeof entry);
    c_maps[i] = tensor_map({.base = group.c,
                            .columns = order.n,
                            .rows = group.rows,
                            .blocks = order.blocks,
                            .row_stride = order.n,
                            .block_stride = group.block_stride},
                           layout_.slab, 64, dtype_);
  }
  std::array<void*, 4> parameters{&a_map, &b_map, c_maps.data(), head.data()};
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(sms, tiles));
  OVT_CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel_), dim3(blocks),
                             dim3(static_cast<unsigned>(layout_.threads)), parameters.data(),
                             static_cast<std::size_t>(layout_.shared_bytes), stream));
}

Expected<const OwnGemm*> OwnLibrary::gemm(const Tile& tile, Dtype dtype, int groups) {
  const auto* most = std::find_if(kGroupCounts.begin(), kGroupCounts.end(),
                                  [&](int count) { return groups <= count; });
  if (groups < 1 || most == kGroupCounts.end()) {
    return bad_input(
        fmt::format("wave_groups: {} groups: expected 1 to {}", groups, kGroupCounts.back()));
  }
  const std::string target = architecture();
  if (target != "sm_90a") {
    return bad_input("tile " + to_string(tile) + ": our kernels run on sm_90a yet, not on " +
                     target);
  }
  const Key key{tile, dtype, *most};
  if (const auto known = gemms_.find(key); known != gemms_.end()) return &known->second;
  const auto source = kernels::hopper_gemm(tile, dtype, *most);
  if (!source) return tl::make_unexpected(source.error());
  const auto cubin = compiled(*source, target);
  if (!cubin) return tl::make_unexpected(cubin.error());
  const auto layout = kernels::hopper_layout(tile);
  const auto [entry, fresh] = gemms_.emplace(key, OwnGemm(*layout, dtype, *most, cubin->bytes));
  return &entry->second;
}

}  // namespace overlaptune::run
