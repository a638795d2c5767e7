#include "run/gemm/gemm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/gpu.hpp"
#include "run/agreed.hpp"
#include "run/gemm/occupied.hpp"
#include "run/host/inventory.hpp"

namespace overlaptune::run {
namespace {

/// Workspace that NVIDIA recommends for Hopper (cuBLAS documentation, cublasSetWorkspace).
constexpr std::size_t kWorkspace = std::size_t{32} << 20;
/// Behind the workspace: room for the scales of a GEMM's rows, where they have to be copied.
constexpr std::size_t kScaleRoom = std::size_t{4} << 20;
constexpr int kProposals = 32;
constexpr std::size_t kFinalists = 8;
/// Shapes whose descriptors are kept.
constexpr std::size_t kMostShapes = 4096;
/// Time of an algorithm that does not run, in milliseconds.
constexpr double kNever = 1e30;

/// Tile shapes by cuBLASLt's identifiers, made from its header (run/gemm/tile_names.cmake).
struct NamedTile {
  int id;
  int m;
  int n;
};
constexpr NamedTile kTiles[] = {
#include "run/gemm/tile_names.inc"
};

/// The cluster size of an identifier: 1, or 2 for every larger cluster.
int cluster_of(std::uint16_t id) {
  return id == CUBLASLT_CLUSTER_SHAPE_1x1x1 || id == CUBLASLT_CLUSTER_SHAPE_AUTO ? 1 : 2;
}

template <class T>
T attribute(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t which) {
  T value{};
  std::size_t written = 0;
  if (cublasLtMatmulAlgoConfigGetAttribute(&algorithm, which, &value, sizeof value, &written) !=
      CUBLAS_STATUS_SUCCESS) {
    return T{};
  }
  return value;
}

cudaDataType type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::bf16:
      return CUDA_R_16BF;
    case Dtype::fp16:
      return CUDA_R_16F;
    case Dtype::e4m3:
      return CUDA_R_8F_E4M3;
  }
  return {};
}

/// The tile of an algorithm. The library is column-major: its m is n here. It does not tell the
/// depth of its pipeline, which is taken to be as deep as shared memory allows.
Tile tile_of(const cublasLtMatmulAlgo_t& algorithm, int compute_capability, Elements elements) {
  const auto id = attribute<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID);
  const auto* named = std::find_if(std::begin(kTiles), std::end(kTiles), [&](const NamedTile& t) {
    return t.id == static_cast<int>(id);
  });
  if (named == std::end(kTiles)) return {};
  const GpuLimits& limits = gpu_limits(compute_capability);
  const std::uint16_t cluster =
      attribute<std::uint16_t>(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID);
  Tile tile{.block_m = named->n,
            .block_n = named->m,
            .block_k = block_k_of(elements),
            .stages = limits.most_stages,
            .cluster = std::min(limits.largest_cluster, cluster_of(cluster))};
  while (tile.stages > 1 && shared_memory_bytes(tile, elements) > limits.shared_memory_bytes)
    --tile.stages;
  return tile;
}

using Layout = Handle<cublasLtMatrixLayout_t, &cublasLtMatrixLayoutDestroy>;
using Operation = Handle<cublasLtMatmulDesc_t, &cublasLtMatmulDescDestroy>;

/// The layout of a column-major matrix, whose columns are `pitch` elements apart.
Layout layout(cudaDataType type, std::int64_t rows, std::int64_t columns, std::int64_t pitch,
              int batch, std::int64_t stride) {
  cublasLtMatrixLayout_t made = nullptr;
  OVT_CHECK(cublasLtMatrixLayoutCreate(&made, type, static_cast<std::uint64_t>(rows),
                                       static_cast<std::uint64_t>(columns), pitch));
  Layout result(made);
  if (batch > 1) {
    OVT_CHECK(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
                                               sizeof batch));
    OVT_CHECK(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                               &stride, sizeof stride));
  }
  return result;
}

/// Elements from one row of A or B to the next.
std::int64_t pitch_of(const GemmShape& shape) {
  return shape.row_stride > 0 ? shape.row_stride : shape.k;
}

template <class Value>
void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t which, const Value& value) {
  OVT_CHECK(cublasLtMatmulDescSetAttribute(operation, which, &value, sizeof value));
}

/// Where the scales are is said later (`Descriptors::set_scales`).
void describe_scales(cublasLtMatmulDesc_t operation, Elements elements) {
  const Scales scales = scales_of(elements);
  const std::int8_t fast = is_exact(elements) ? 0 : 1;
  set(operation, CUBLASLT_MATMUL_DESC_FAST_ACCUM, fast);
  if (scales != Scales::rows) return;  // one scale is the default
#if CUBLAS_VERSION >= 120900
  const cublasLtMatmulMatrixScale_t mode = CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
  for (const auto which : {CUBLASLT_MATMUL_DESC_A_SCALE_MODE, CUBLASLT_MATMUL_DESC_B_SCALE_MODE}) {
    set(operation, which, mode);
  }
#else
  throw Failure(ErrorKind::bad_input,
                "scales of rows: this build's cuBLAS has none: expected CUDA 12.9 or later");
#endif
}

/// The library scales the rows of one matrix alone: each of a batch is a GEMM of its own.
GemmShape without_batch(GemmShape shape) {
  if (!is_scaled(shape.elements)) return shape;
  shape.batch = 1;
  shape.stride_a = shape.stride_c = 0;
  return shape;
}

}  // namespace

std::uint32_t common_alignment(const GemmShape& shape, std::span<const GemmOperands> operands) {
  constexpr std::uint64_t kMostAlignment = 256;
  const std::int64_t pitch = pitch_of(shape);
  std::uint64_t all =
      kMostAlignment |
      static_cast<std::uint64_t>((pitch | shape.stride_a) * operand_bytes(shape.elements)) |
      static_cast<std::uint64_t>((shape.n | shape.stride_c) * result_bytes(shape.elements));
  for (const GemmOperands& each : operands) {
    for (const void* pointer : {each.a, each.b, static_cast<const void*>(each.c)}) {
      all |= reinterpret_cast<std::uint64_t>(pointer);
    }
  }
  return static_cast<std::uint32_t>(all & (~all + 1));  // the lowest bit that is set in any
}

struct GemmLibrary::Descriptors {
  Operation operation{};
  Layout a{};  // the library's second operand
  Layout b{};
  Layout c{};

  void set_scales(const float* of_a, const float* of_b) const {
    set(operation.get(), CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, of_b);  // the library's A is B
    set(operation.get(), CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, of_a);
  }
};

GemmLibrary::GemmLibrary(World& world)
    : world_(&world),
      sms_(sms_of(current_device())),
      compute_capability_(compute_capability()),
      workspace_(device_memory(kWorkspace + kScaleRoom)) {
  cublasLtHandle_t handle = nullptr;
  OVT_CHECK(cublasLtCreate(&handle));
  handle_ = Handle<cublasLtHandle_t, &cublasLtDestroy>(handle);
}

const GemmLibrary::Descriptors& GemmLibrary::descriptors(const GemmShape& shape) const {
  if (descriptors_.size() >= kMostShapes && !descriptors_.contains(shape)) descriptors_.clear();
  auto& entry = descriptors_[shape];
  if (entry) return *entry;
  // Row-major C = A * B^T is column-major C^T = B * A^T: B, stored n x k by rows, must be
  // transposed; A is taken as it is.
  const cudaDataType operand = type_of(operand_of(shape.elements));
  auto made = std::make_shared<Descriptors>();
  cublasLtMatmulDesc_t operation = nullptr;
  OVT_CHECK(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  made->operation = Operation(operation);
  set(operation, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  if (is_scaled(shape.elements)) {
    describe_scales(operation, shape.elements);
    // Proposals depend on there being scales, not on where they are.
    made->set_scales(static_cast<const float*>(workspace_.get()),
                     static_cast<const float*>(workspace_.get()));
  }
  if (shape.sms > 0) {
    set(operation, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, std::int32_t{shape.sms});
  }
  const std::int64_t pitch = pitch_of(shape);
  made->b = layout(operand, shape.k, shape.n, pitch, shape.batch, 0);
  made->a = layout(operand, shape.k, shape.m, pitch, shape.batch, shape.stride_a);
  made->c = layout(type_of(result_of(shape.elements)), shape.n, shape.m, shape.n, shape.batch,
                   shape.stride_c);
  entry = std::move(made);
  return *entry;
}

cublasStatus_t GemmLibrary::multiply(cudaStream_t stream, const GemmShape& shape,
                                     const cublasLtMatmulAlgo_t& algorithm,
                                     const GemmOperands& operands) const {
  if (is_scaled(shape.elements) && shape.batch > 1) {
    return multiply_each(stream, shape, algorithm, operands);
  }
  const Descriptors& with = descriptors(shape);
  if (is_scaled(shape.elements)) {
    with.set_scales(aligned_scales(stream, shape, operands.scales.a), operands.scales.b);
  }
  const float one = 1;
  const float zero = 0;
  return cublasLtMatmul(handle_.get(), with.operation.get(), &one, operands.b, with.b.get(),
                        operands.a, with.a.get(), &zero, operands.c, with.c.get(), operands.c,
                        with.c.get(), &algorithm, workspace_.get(), kWorkspace, stream);
}

/// The library takes scales at multiples of 16 bytes. Those of a row block or piece may begin at
/// any row.
const float* GemmLibrary::aligned_scales(cudaStream_t stream, const GemmShape& shape,
                                         const float* scales) const {
  if (reinterpret_cast<std::uintptr_t>(scales) % kLeastAlignment == 0) return scales;
  const auto bytes = static_cast<std::size_t>(scale_count(shape.elements, shape.m)) * sizeof(float);
  if (bytes > kScaleRoom) {
    throw Failure(
        ErrorKind::bad_input,
        fmt::format("scales of {} rows that begin at no multiple of 16 bytes: expected at "
                    "most {} rows",
                    shape.m, kScaleRoom / sizeof(float)));
  }
  void* const room = static_cast<std::byte*>(workspace_.get()) + kWorkspace;
  OVT_CHECK(cudaMemcpyAsync(room, scales, bytes, cudaMemcpyDeviceToDevice, stream));
  return static_cast<const float*>(room);
}

cublasStatus_t GemmLibrary::multiply_each(cudaStream_t stream, const GemmShape& batch,
                                          const cublasLtMatmulAlgo_t& algorithm,
                                          const GemmOperands& operands) const {
  const GemmShape one = without_batch(batch);
  const std::int64_t rows =
      scales_of(one.elements) == Scales::rows ? batch.stride_a / pitch_of(batch) : 0;
  for (int i = 0; i < batch.batch; ++i) {
    const auto* a = static_cast<const std::byte*>(operands.a);
    auto* c = static_cast<std::byte*>(operands.c);
    const GemmOperands own{.a = a + i * batch.stride_a * operand_bytes(one.elements),
                           .b = operands.b,
                           .c = c + i * batch.stride_c * result_bytes(one.elements),
                           .scales = {operands.scales.a + i * rows, operands.scales.b}};
    const cublasStatus_t status = multiply(stream, one, algorithm, own);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}

void GemmLibrary::enqueue(cudaStream_t stream, const GemmShape& shape, const GemmChoice& choice,
                          const GemmOperands& operands) const {
  const bool is_aligned = common_alignment(shape, std::span(&operands, 1)) >= choice.alignment;
  OVT_CHECK(multiply(stream, shape, is_aligned ? choice.algorithm : choice.less_aligned, operands));
}

/// Lowers `best` to the shortest times on this rank.
void GemmLibrary::time_here(const GemmShape& shape,
                            std::span<const cublasLtMatmulAlgo_t> algorithms,
                            std::span<const GemmOperands> operands, int rounds,
                            std::span<double> best) {
  const cudaStream_t stream = world_->stream();
  std::vector<Event> events;
  for (std::size_t i = 0; i < 2 * algorithms.size(); ++i) events.push_back(make_event(true));
  std::size_t turn = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<bool> ran(algorithms.size());
    {
      const Occupied others(stream, shape.sms > 0 ? sms_ - shape.sms : 0);
      for (std::size_t i = 0; i < algorithms.size(); ++i) {
        OVT_CHECK(cudaEventRecord(events[2 * i].get(), stream));
        ran[i] = multiply(stream, shape, algorithms[i], operands[turn++ % operands.size()]) ==
                 CUBLAS_STATUS_SUCCESS;
        OVT_CHECK(cudaEventRecord(events[2 * i + 1].get(), stream));
      }
    }
    world_->finish(stream, "cuBLASLt's GEMMs");
    for (std::size_t i = 0; i < algorithms.size(); ++i) {
      float ms = 0;
      OVT_CHECK(cudaEventElapsedTime(&ms, events[2 * i].get(), events[2 * i + 1].get()));
      if (ran[i]) best[i] = std::min(best[i], static_cast<double>(ms));
    }
  }
}

/// The shortest time of each algorithm, on the rank where it is longest.
std::vector<double> GemmLibrary::times(const GemmShape& shape,
                                       std::span<const cublasLtMatmulAlgo_t> algorithms,
                                       std::span<const GemmOperands> operands, int rounds) {
  std::vector<double> best(algorithms.size(), kNever);
  auto timed = caught([&]() -> Expected<void> {
    time_here(shape, algorithms, operands, rounds, best);
    return {};
  });
  value_or_throw(agreed(*world_, std::move(timed), "time cuBLASLt's algorithms"));
  return world_->largest(best);
}

/// The algorithms that the library's heuristics propose, the same on every rank.
std::vector<cublasLtMatmulAlgo_t> GemmLibrary::proposals(const GemmShape& shape,
                                                         std::uint32_t alignment) const {
  const Descriptors& with = descriptors(without_batch(shape));
  cublasLtMatmulPreference_t made = nullptr;
  OVT_CHECK(cublasLtMatmulPreferenceCreate(&made));
  const Handle<cublasLtMatmulPreference_t, &cublasLtMatmulPreferenceDestroy> preference(made);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t which, const auto& value) {
    OVT_CHECK(cublasLtMatmulPreferenceSetAttribute(made, which, &value, sizeof value));
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspace);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment);
  std::array<cublasLtMatmulHeuristicResult_t, kProposals> proposals{};
  int found = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle_.get(), with.operation.get(), with.b.get(), with.a.get(), with.c.get(), with.c.get(),
      made, kProposals, proposals.data(), &found);
  if (status != CUBLAS_STATUS_SUCCESS) found = 0;
  found = static_cast<int>(-world_->largest(-static_cast<double>(found)));
  std::vector<cublasLtMatmulAlgo_t> algorithms;
  algorithms.reserve(static_cast<std::size_t>(found));
  for (int i = 0; i < found; ++i) {
    algorithms.push_back(proposals[static_cast<std::size_t>(i)].algo);
  }
  return algorithms;
}

/// The first proposal that runs. It runs here, because the first launch of a kernel loads it, which
/// must not happen while a graph is captured.
Expected<cublasLtMatmulAlgo_t> GemmLibrary::unmeasured(const GemmShape& shape,
                                                       std::uint32_t alignment,
                                                       const GemmOperands& operands) const {
  for (const cublasLtMatmulAlgo_t& each : proposals(shape, alignment)) {
    if (multiply(world_->stream(), shape, each, operands) == CUBLAS_STATUS_SUCCESS) return each;
  }
  return bad_input(fmt::format(
      "cuBLASLt has no algorithm for this GEMM on operands aligned to {} bytes", alignment));
}

Expected<GemmChoice> GemmLibrary::choose(const GemmShape& shape,
                                         std::span<const GemmOperands> operands) {
  if (const auto known = choices_.find(shape); known != choices_.end()) return known->second;
  const std::uint32_t alignment = common_alignment(shape, operands);
  const auto algorithms = proposals(shape, alignment);
  if (algorithms.empty()) return bad_input("cuBLASLt has no algorithm for this GEMM");
  // The first launch of a kernel loads it, and loading waits for all other kernels to end. So each
  // algorithm runs once before SMs are occupied.
  for (const cublasLtMatmulAlgo_t& algorithm : algorithms) {
    static_cast<void>(multiply(world_->stream(), shape, algorithm, operands.front()));
  }
  world_->finish(world_->stream(), "cuBLASLt's GEMMs");
  const std::vector<double> first = times(shape, algorithms, operands, 2);
  std::vector<std::size_t> order(algorithms.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return first[i]; });
  order.resize(std::min(order.size(), kFinalists));
  std::vector<cublasLtMatmulAlgo_t> finalists;
  finalists.reserve(order.size());
  for (const std::size_t i : order) finalists.push_back(algorithms[i]);
  const std::vector<double> final = times(shape, finalists, operands, 3);
  const auto best = static_cast<std::size_t>(std::ranges::min_element(final) - final.begin());
  if (final[best] >= kNever) {
    return bad_input("cuBLASLt proposes algorithms for this GEMM, but none of them runs");
  }
  GemmChoice choice{.algorithm = finalists[best], .alignment = alignment};
  const std::uint32_t least = std::min(alignment, kLeastAlignment);
  const auto less_aligned = least < alignment ? unmeasured(shape, least, operands.front())
                                              : Expected<cublasLtMatmulAlgo_t>(choice.algorithm);
  if (!less_aligned) return error_of(less_aligned);
  choice.less_aligned = *less_aligned;
  choice.tile = tile_of(choice.algorithm, compute_capability_, shape.elements);
  choices_.emplace(shape, choice);
  return choice;
}

/// Whether the library can run the algorithm on this shape in the workspace. It launches nothing.
bool GemmLibrary::allows(const GemmShape& shape, const cublasLtMatmulAlgo_t& algorithm) const {
  const Descriptors& with = descriptors(without_batch(shape));
  cublasLtMatmulHeuristicResult_t result{};
  const cublasStatus_t status =
      cublasLtMatmulAlgoCheck(handle_.get(), with.operation.get(), with.b.get(), with.a.get(),
                              with.c.get(), with.c.get(), &algorithm, &result);
  return status == CUBLAS_STATUS_SUCCESS && result.state == CUBLAS_STATUS_SUCCESS &&
         result.workspaceSize <= kWorkspace;
}

Expected<GemmChoice> GemmLibrary::nearest(const GemmShape& shape) const {
  if (const auto known = choices_.find(shape); known != choices_.end()) return known->second;
  std::vector<std::pair<double, const GemmChoice*>> others;
  for (const auto& [known, choice] : choices_) {
    GemmShape other = known;
    other.m = shape.m;
    other.stride_a = shape.stride_a;
    other.stride_c = shape.stride_c;
    if (other != shape) continue;
    const double apart =
        std::abs(std::log(static_cast<double>(known.m) / static_cast<double>(shape.m)));
    others.emplace_back(apart, &choice);
  }
  std::ranges::stable_sort(others, {}, [](const auto& each) { return each.first; });
  for (const auto& [apart, choice] : others) {
    if (allows(shape, choice->algorithm) && allows(shape, choice->less_aligned)) return *choice;
  }
  return bad_input(fmt::format(
      "no algorithm of cuBLASLt that was chosen for this weight is allowed for {} rows", shape.m));
}

}  // namespace overlaptune::run
