#include "tests/gpu/plan_check/test_problem.hpp"

#include <algorithm>
#include <numeric>

namespace overlaptune::plan_check {
namespace {

std::int64_t result_rows(const Problem& problem) {
  return problem.op == Op::gemm_reduce_scatter ? problem.m / problem.ranks : problem.m;
}

std::uint64_t seed_of(std::size_t set, int rank, bool b) {
  return 1000 * (set + 1) + 2 * static_cast<std::uint64_t>(rank) + (b ? 1 : 0);
}

std::byte* at(const run::DeviceMemory& memory, std::int64_t bytes) {
  return static_cast<std::byte*>(memory.get()) + bytes;
}

/// Rows of rank `from`'s A that make up rows of this rank's result.
struct Contribution {
  std::int64_t first_row = 0;  ///< of A
  std::int64_t rows = 0;
  std::int64_t result_row = 0;
};

Contribution contribution(const Problem& problem, int from, int me) {
  const std::int64_t block = problem.m / problem.ranks;
  switch (problem.op) {
    case Op::gemm_all_reduce:
      return {0, problem.m, 0};
    case Op::gemm_reduce_scatter:
      return {me * block, block, 0};
    case Op::all_gather_gemm:
      return {0, block, from * block};
    case Op::gemm_all_to_all:
    case Op::all_to_all_gemm:  // the same rows of A; their product is with another B
      return {me * block, block, from * block};
  }
  return {};
}

}  // namespace

OwnMemory::OwnMemory(std::span<const Problem> problems) {
  ovt_sizes most{};
  std::int64_t most_rows = 0;
  std::int64_t most_elements = 0;
  std::int64_t most_scales = 1;
  for (const Problem& problem : problems) {
    const ovt_sizes sizes = sizes_of(problem, Config{});
    most.a_bytes = std::max(most.a_bytes, sizes.a_bytes);
    most.b_bytes = std::max(most.b_bytes, sizes.b_bytes);
    most.c_bytes = std::max(most.c_bytes, sizes.c_bytes);
    most_rows = std::max(most_rows, result_rows(problem));
    most_elements = std::max(most_elements, result_rows(problem) * problem.n);
    most_scales = std::max({most_scales, problem.m, problem.n});
  }
  const auto allocated = [](std::int64_t bytes) {
    return run::device_memory(static_cast<std::size_t>(bytes));
  };
  for (OperandSet& set : sets) {
    set = {.a = allocated(most.a_bytes),
           .b = allocated(most.b_bytes),
           .c = allocated(most.c_bytes),
           .a_scales = allocated(most_scales * 4),
           .b_scales = allocated(most_scales * 4),
           .reference = allocated(most_elements * static_cast<std::int64_t>(sizeof(double)))};
  }
  scratch_a = allocated(most.a_bytes);
  scratch_b = allocated(most.b_bytes);
  scratch_a_scales = allocated(most_scales * 4);
  scratch_b_scales = allocated(most_scales * 4);
  rows = allocated(most_rows * static_cast<std::int64_t>(sizeof(std::int64_t)));
  deviation = allocated(sizeof(kernels::Deviation));
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(most_rows));
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  OVT_CHECK(cudaMemcpy(rows.get(), numbers.data(), numbers.size() * sizeof numbers[0],
                       cudaMemcpyHostToDevice));
}

TestProblem::TestProblem(Bench& bench, const OwnMemory& memory, const Problem& problem)
    : bench_(bench),
      memory_(memory),
      problem_(problem),
      sizes_(sizes_of(problem, Config{})),
      rows_(result_rows(problem)) {
  for (std::size_t set = 0; set < memory.sets.size(); ++set) fill(set);
  bench.finish();
}

run::ScaleOperands TestProblem::scales(std::size_t set) const {
  if (!is_scaled(problem_.elements)) return {};
  const OperandSet& on = memory_.sets[set];
  return {static_cast<const float*>(on.a_scales.get()),
          static_cast<const float*>(on.b_scales.get())};
}

/// One scale of A is the same on all ranks.
std::uint64_t TestProblem::scale_seed(std::size_t set, int rank, bool b) const {
  const bool shared = !b && scales_of(problem_.elements) == Scales::tensor;
  return 7 + seed_of(set, shared ? 0 : rank, b);
}

void TestProblem::fill_scales(const run::DeviceMemory& a, const run::DeviceMemory& b,
                              std::uint64_t seed_a, std::uint64_t seed_b) const {
  OVT_CHECK(kernels::fill_scales(bench_.stream(), static_cast<float*>(a.get()), nullptr,
                                 scale_count(problem_.elements, problem_.m), seed_a));
  OVT_CHECK(kernels::fill_scales(bench_.stream(), static_cast<float*>(b.get()), nullptr,
                                 scale_count(problem_.elements, problem_.n), seed_b));
}

void TestProblem::fill(std::size_t set) {
  const cudaStream_t stream = bench_.stream();
  const int me = bench_.process().rank();
  const OperandSet& on = memory_.sets[set];
  const Dtype operand = operand_of(problem_.elements);
  const std::int64_t element = bytes_of(operand);
  OVT_CHECK(kernels::fill_normal(stream, on.a.get(), operand, sizes_.a_bytes / element,
                                 seed_of(set, me, false)));
  OVT_CHECK(kernels::fill_normal(stream, on.b.get(), operand, sizes_.b_bytes / element,
                                 seed_of(set, me, true)));
  fill_scales(on.a_scales, on.b_scales, scale_seed(set, me, false), scale_seed(set, me, true));
  OVT_CHECK(cudaMemsetAsync(on.reference.get(), 0,
                            static_cast<std::size_t>(rows_ * problem_.n) * sizeof(double), stream));
  for (int rank = 0; rank < problem_.ranks; ++rank) add_rank(set, rank);
}

void TestProblem::add_rank(std::size_t set, int rank) {
  const int me = bench_.process().rank();
  const cudaStream_t stream = bench_.stream();
  const Dtype operand = operand_of(problem_.elements);
  const std::int64_t element = bytes_of(operand);
  // Rows that came before the product are multiplied here.
  const bool multiplied_here =
      problem_.op == Op::all_gather_gemm || problem_.op == Op::all_to_all_gemm;
  const int owner_of_b = multiplied_here ? me : rank;
  OVT_CHECK(kernels::fill_normal(stream, memory_.scratch_a.get(), operand, sizes_.a_bytes / element,
                                 seed_of(set, rank, false)));
  OVT_CHECK(kernels::fill_normal(stream, memory_.scratch_b.get(), operand, sizes_.b_bytes / element,
                                 seed_of(set, owner_of_b, true)));
  fill_scales(memory_.scratch_a_scales, memory_.scratch_b_scales, scale_seed(set, rank, false),
              scale_seed(set, owner_of_b, true));
  const Contribution part = contribution(problem_, rank, me);
  const bool of_rows = scales_of(problem_.elements) == Scales::rows;
  const auto* const a_scales = static_cast<const float*>(memory_.scratch_a_scales.get());
  const auto* const b_scales = static_cast<const float*>(memory_.scratch_b_scales.get());
  const bool has_scales = is_scaled(problem_.elements);
  auto* const sums =
      static_cast<double*>(memory_.sets[set].reference.get()) + part.result_row * problem_.n;
  OVT_CHECK(kernels::add_products(
      stream, at(memory_.scratch_a, part.first_row * problem_.k * element), memory_.scratch_b.get(),
      sums, operand, part.rows, problem_.n, problem_.k,
      has_scales ? a_scales + (of_rows ? part.first_row : 0) : nullptr,
      has_scales ? b_scales : nullptr, of_rows));
}

void TestProblem::copy_a(void* to) const {
  OVT_CHECK(cudaMemcpyAsync(to, memory_.sets[0].a.get(), static_cast<std::size_t>(sizes_.a_bytes),
                            cudaMemcpyDeviceToDevice, bench_.stream()));
}

void TestProblem::poison(void* c) const {
  OVT_CHECK(cudaMemsetAsync(c, 0xff, static_cast<std::size_t>(sizes_.c_bytes), bench_.stream()));
}

void TestProblem::compare(std::size_t set, const void* c, kernels::Deviation* into) const {
  OVT_CHECK(kernels::compare(bench_.stream(), c, rows_ * problem_.n, result_of(problem_.elements),
                             static_cast<const double*>(memory_.sets[set].reference.get()),
                             static_cast<const std::int64_t*>(memory_.rows.get()), rows_,
                             problem_.n, into));
}

kernels::Deviation TestProblem::deviation(std::size_t set, const void* c) {
  const cudaStream_t stream = bench_.stream();
  auto* const on_device = static_cast<kernels::Deviation*>(memory_.deviation.get());
  kernels::Deviation seen;
  OVT_CHECK(cudaMemsetAsync(on_device, 0, sizeof seen, stream));
  compare(set, c, on_device);
  OVT_CHECK(cudaMemcpyAsync(&seen, on_device, sizeof seen, cudaMemcpyDeviceToHost, stream));
  bench_.finish();
  const std::vector<double> worst =
      bench_.largest(std::vector<double>{seen.largest, static_cast<double>(seen.not_finite)});
  return {.largest = worst[0], .not_finite = static_cast<unsigned long long>(worst[1])};
}

}  // namespace overlaptune::plan_check
