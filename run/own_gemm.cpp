#include "run/own_gemm.hpp"

#include <algorithm>
#include <array>
#include <cuda.h>
#include <thread>

#include <fmt/format.h>

#include "core/error.hpp"

namespace overlaptune::run {
namespace {

/// Kernels are made for so many segments at a time: their tensor maps are parameters.
constexpr std::array<int, 2> kSegmentCounts{16, 192};

// What the kernel takes, as kernels/device/hopper_gemm.cu declares it.
struct Segment {
  int end;
  int counter;
  int first_row;
  int first_column;
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

template <class T>
std::vector<std::byte> bytes_of(std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  return {bytes.begin(), bytes.end()};
}

std::string architecture() {
  int device = 0;
  cudaDeviceProp properties{};
  OVT_CHECK(cudaGetDevice(&device));
  OVT_CHECK(cudaGetDeviceProperties(&properties, device));
  return fmt::format("sm_{}{}{}", properties.major, properties.minor,
                     properties.major == 9 ? "a" : "");
}

/// Error: see `OwnLibrary::gemm`.
Expected<kernels::CompileJob> job_of(const TiledKernel& kernel) {
  const auto* most = std::find_if(kSegmentCounts.begin(), kSegmentCounts.end(),
                                  [&](int count) { return kernel.regions <= count; });
  if (kernel.regions < 1 || most == kSegmentCounts.end()) {
    return bad_input(fmt::format("wave_groups: {} regions of C: expected 1 to {}", kernel.regions,
                                 kSegmentCounts.back()));
  }
  const std::string target = architecture();
  if (target != "sm_90a") {
    return bad_input("tile " + to_string(kernel.tile) + ": our kernels run on sm_90a yet, not on " +
                     target);
  }
  auto source = kernels::hopper_gemm(kernel.tile, kernel.dtype, *most);
  if (!source) return tl::make_unexpected(source.error());
  return kernels::CompileJob{.source = std::move(*source), .architecture = target};
}

/// The compiler, and where its results are kept.
struct Workshop {
  kernels::Compiler compiler;
  kernels::CubinCacheOptions cache;

  static Expected<Workshop> open() {
    auto compiler = kernels::Compiler::load();
    if (!compiler) return tl::make_unexpected(compiler.error());
    auto options = kernels::cubin_cache_options();
    if (!options) return tl::make_unexpected(options.error());
    return Workshop{std::move(*compiler), std::move(*options)};
  }
};

}  // namespace

OwnGemm::OwnGemm(const Tile& tile, const kernels::HopperLayout& layout, Dtype dtype,
                 int most_segments, const std::string& cubin)
    : tile_(tile), layout_(layout), dtype_(dtype), most_segments_(most_segments) {
  cudaLibrary_t library = nullptr;
  OVT_CHECK(cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  library_ = Handle<cudaLibrary_t, &cudaLibraryUnload>(library);
  OVT_CHECK(cudaLibraryGetKernel(&kernel_, library, "hopper_gemm"));
  // Also loads it now: not while something waits.
  OVT_CHECK(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel_),
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, layout.shared_bytes));
}

OwnLaunch OwnGemm::prepare(const TileOrder& order, int sms, const OwnOperands& operands,
                           std::uint32_t* counters) const {
  const std::int64_t k = operands.k - operands.left_out_k;
  const std::int64_t tiles = order.tiles() - operands.left_out_tiles;
  OwnLaunch launch;
  if (tiles <= 0) return launch;
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
  const OrderHead head{
      .panels = static_cast<int>(order.panels_per_block()),
      .blocks = order.blocks,
      .columns = static_cast<int>(order.columns()),
      .raster = static_cast<int>(std::min<std::int64_t>(order.raster, order.panels_per_block())),
      .tiles = static_cast<int>(tiles),
      .k_steps = static_cast<int>((k + 63) / 64),
      .counters = counters};
  std::vector<Segment> segments(static_cast<std::size_t>(most_segments_));
  std::vector<CUtensorMap> maps(segments.size());
  for (std::size_t i = 0; i < operands.segments.size(); ++i) {
    const OwnSegment& segment = operands.segments[i];
    const Region& region = segment.region;
    segments[i] = {static_cast<int>(region.end), segment.counter,
                   static_cast<int>(region.first_row), static_cast<int>(region.first_column)};
    maps[i] = tensor_map({.base = segment.c,
                          .columns = region.columns,
                          .rows = region.rows,
                          .blocks = order.blocks,
                          .row_stride = segment.row_stride,
                          .block_stride = segment.block_stride},
                         layout_.slab, 64, dtype_);
  }
  const CUtensorMap a_map = tensor_map(a, 64, order.block_m, dtype_);
  const CUtensorMap b_map = tensor_map(b, 64, order.block_n / tile_.cluster, dtype_);
  launch.parameters = {bytes_of<CUtensorMap>({&a_map, 1}), bytes_of<CUtensorMap>({&b_map, 1}),
                       bytes_of<CUtensorMap>(maps),
                       bytes_of<OrderHead>({&head, 1})};
  // The order and its segments are one parameter.
  const auto table = bytes_of<Segment>(segments);
  launch.parameters.back().insert(launch.parameters.back().end(), table.begin(), table.end());
  // Whole clusters, of which the last may have a tile for one of its CTAs only.
  const std::int64_t cluster = tile_.cluster;
  launch.blocks = static_cast<unsigned>(
      std::max(cluster, std::min<std::int64_t>(sms, tiles + cluster - 1) / cluster * cluster));
  return launch;
}

void OwnGemm::enqueue(cudaStream_t stream, const OwnLaunch& launch) const {
  if (launch.blocks == 0) return;
  std::vector<void*> parameters;
  for (const auto& parameter : launch.parameters) {
    parameters.push_back(const_cast<std::byte*>(parameter.data()));
  }
  OVT_CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel_), dim3(launch.blocks),
                             dim3(static_cast<unsigned>(layout_.threads)), parameters.data(),
                             static_cast<std::size_t>(layout_.shared_bytes), stream));
}

Expected<const OwnGemm*> OwnLibrary::gemm(const TiledKernel& kernel) {
  const auto job = job_of(kernel);
  if (!job) return tl::make_unexpected(job.error());
  const int most = *std::find_if(kSegmentCounts.begin(), kSegmentCounts.end(),
                                 [&](int count) { return kernel.regions <= count; });
  const Key key{kernel.tile, kernel.dtype, most};
  if (const auto known = gemms_.find(key); known != gemms_.end()) return &known->second;
  const auto workshop = Workshop::open();
  if (!workshop) return tl::make_unexpected(workshop.error());
  const auto compiled = kernels::compile_cached(
      workshop->compiler, kernels::CubinCache(workshop->cache), *job);
  if (!compiled) return tl::make_unexpected(compiled.error());
  const kernels::CubinProperties& properties = compiled->cubin.properties;
  if (properties.spill_bytes > 0 || properties.local_bytes > 0) {
    return bad_input(to_string(job->source) + ": its sums do not fit the registers");
  }
  const auto layout = kernels::hopper_layout(kernel.tile);
  const auto [entry, fresh] = gemms_.emplace(
      key, OwnGemm(kernel.tile, *layout, kernel.dtype, most, compiled->cubin.bytes));
  return &entry->second;
}

void OwnLibrary::compile(std::span<const TiledKernel> kernels, int part, int parts) {
  std::vector<kernels::CompileJob> jobs;
  for (const TiledKernel& kernel : kernels) {
    if (auto job = job_of(kernel)) jobs.push_back(std::move(*job));
  }
  const auto workshop = Workshop::open();
  if (!workshop || jobs.empty()) return;
  const auto begin = static_cast<std::ptrdiff_t>(jobs.size()) * part / parts;
  std::rotate(jobs.begin(), jobs.begin() + begin, jobs.end());
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const unsigned threads = std::max(1U, cores / static_cast<unsigned>(parts));
  const kernels::CubinCache cache(workshop->cache);
  static_cast<void>(kernels::compile_all(workshop->compiler, cache, jobs, threads));
}

}  // namespace overlaptune::run
