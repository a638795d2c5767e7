#include "machine/worker/test_problem.hpp"

#include <algorithm>

#include "core/base/index.hpp"
#include "machine/worker/reference_rows.hpp"
#include "run/memory/sizes.hpp"

namespace overlaptune::cuda {
namespace {

constexpr std::int64_t kSmallResult = std::int64_t{1} << 20;  // elements
constexpr std::int64_t kRowStride = 64;
constexpr int kFewestSets = 2;

/// Every row, or one of each 64, at a place that differs from stripe to stripe.
std::vector<std::int64_t> checked_rows(std::int64_t rows, std::int64_t n) {
  std::vector<std::int64_t> list;
  const bool all = rows * n <= kSmallResult;
  for (std::int64_t row = 0; row < rows; row += all ? 1 : kRowStride) {
    const std::int64_t offset = all ? 0 : row / kRowStride * 29 % kRowStride;
    list.push_back(std::min(row + offset, rows - 1));
  }
  return list;
}

template <class T>
run::DeviceMemory on_device(const std::vector<T>& values) {
  run::DeviceMemory memory =
      run::device_memory(std::max<std::size_t>(1, values.size()) * sizeof(T));
  OVT_CHECK(
      cudaMemcpy(memory.get(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}

}  // namespace

TestProblem::TestProblem(Workbench& bench, const Problem& problem, std::uint64_t seed)
    : bench_(bench),
      problem_(problem),
      seed_(seed),
      deviation_(run::device_memory(sizeof(kernels::Deviation))) {}

Expected<std::unique_ptr<TestProblem>> TestProblem::prepare(Workbench& bench,
                                                            const Problem& problem,
                                                            std::uint64_t seed) {
  std::unique_ptr<TestProblem> made(new TestProblem(bench, problem, seed));
  if (auto room = made->allocate(); !room) return error_of(room);
  made->fill_inputs();
  made->make_references();
  return made;
}

/// Allocates as many sets as keep operands cold, at least two. If they do not fit, it allocates
/// one.
Expected<void> TestProblem::allocate() {
  const std::int64_t a = run::bytes_of_a(problem_);
  const std::int64_t b = run::bytes_of_b(problem_);
  const std::int64_t c = run::bytes_of_c(problem_);
  const std::int64_t workspace = run::most_workspace_bytes(problem_);
  const std::int64_t rows = run::elements_of_c(problem_) / problem_.n;
  rows_ = checked_rows(rows, problem_.n);
  const auto checked = static_cast<std::int64_t>(rows_.size());
  // Memory of `accumulate`, and of a reference for each set.
  const std::int64_t operands =
      (checked + problem_.n) * problem_.k * operand_bytes(problem_.elements);
  const std::int64_t reference = checked * problem_.n * static_cast<std::int64_t>(sizeof(double));
  const auto try_sets = [&](int sets) {
    operands_.resize(index(sets));
    return placed(
        bench_.world,
        [&](Bump& bump) {
          for (run::Operands& set : operands_) {
            set = {.a = bump.take(a),
                   .b = bump.take(b),
                   .c = bump.take(c),
                   .workspace = bump.take(workspace),
                   // A has fewer rows than the GEMM where they are gathered.
                   .scales = bump.take_scales(problem_.elements, problem_.m, problem_.n)};
          }
        },
        static_cast<std::size_t>(operands + sets * reference) +
            index(sets) * exchanged_bytes());  // for `lay_apart`
  };
  // Not all configs use the workspace, so it does not count: the operands alone must exceed the
  // cache.
  const auto room = try_sets(std::max(kFewestSets, bench_.cold_sets(a + b + c)));
  return room ? room : try_sets(1);
}

std::size_t TestProblem::exchanged_bytes() const {
  const bool first = traits_of(problem_.op).exchanges_first;
  return static_cast<std::size_t>(first ? run::bytes_of_a(problem_) : run::bytes_of_c(problem_));
}

Expected<void> TestProblem::lay_apart(bool apart) {
  apart_ = apart;
  for (std::size_t set = 0; !apart && set < given_.size(); ++set) {
    if (given_[set].a == operands_[set].a) break;  // `poison` has left that one alone
    OVT_CHECK(cudaMemcpyAsync(const_cast<void*>(operands_[set].a), given_[set].a, exchanged_bytes(),
                              cudaMemcpyDeviceToDevice, bench_.world.stream()));
  }
  if (!apart || !given_.empty()) return {};
  std::vector<run::DeviceMemory> memory;
  const auto lacks = lacking(bench_.world, [&] {
    for (int set = 0; set < sets(); ++set) memory.push_back(run::device_memory(exchanged_bytes()));
  });
  if (lacks) {
    apart_ = false;
    return bad_input(lacks->empty() ? "another rank lacks memory for operands as callers have them"
                                    : "operands as callers have them: " + *lacks);
  }
  apart_memory_ = std::move(memory);
  for (std::size_t set = 0; set < operands_.size(); ++set) {
    run::Operands given = operands_[set];
    void* const own = apart_memory_[set].get();
    if (traits_of(problem_.op).exchanges_first) {
      OVT_CHECK(cudaMemcpyAsync(own, given.a, exchanged_bytes(), cudaMemcpyDeviceToDevice,
                                bench_.world.stream()));
      given.a = own;
    } else {
      given.c = own;
    }
    given_.push_back(given);
  }
  return {};
}

std::uint64_t TestProblem::seed_of(int set, int rank, bool b) const {
  return ((seed_ * 131 + static_cast<std::uint64_t>(set)) * 4099 +
          static_cast<std::uint64_t>(rank)) *
             2 +
         (b ? 1 : 0);
}

void TestProblem::fill_inputs() {
  const cudaStream_t stream = bench_.world.stream();
  const int me = bench_.world.rank();
  for (int set = 0; set < sets(); ++set) {
    const run::Operands& on = operands_[index(set)];
    OVT_CHECK(kernels::fill_normal(stream, const_cast<void*>(on.a), operand_of(problem_.elements),
                                   run::elements_of_a(problem_), seed_of(set, me, false)));
    OVT_CHECK(kernels::fill_normal(stream, const_cast<void*>(on.b), operand_of(problem_.elements),
                                   run::elements_of_b(problem_), seed_of(set, me, true)));
    if (!is_scaled(problem_.elements)) continue;
    OVT_CHECK(kernels::fill_scales(stream, const_cast<float*>(on.scales.a), nullptr,
                                   scale_count(problem_.elements, problem_.m),
                                   scale_seed(set, me, false)));
    OVT_CHECK(kernels::fill_scales(stream, const_cast<float*>(on.scales.b), nullptr,
                                   scale_count(problem_.elements, problem_.n),
                                   scale_seed(set, me, true)));
  }
}

/// The scale of A is that of all ranks where a matrix has one.
std::uint64_t TestProblem::scale_seed(int set, int rank, bool b) const {
  const bool shared = !b && scales_of(problem_.elements) == Scales::tensor;
  constexpr std::uint64_t kApart = 0x5ca1e;  // from the seeds of elements
  return seed_of(set, shared ? 0 : rank, b) ^ kApart << 40;
}

void TestProblem::make_references() {
  rows_on_device_ = on_device(rows_);
  OVT_CHECK(
      cudaMemsetAsync(deviation_.get(), 0, sizeof(kernels::Deviation), bench_.world.stream()));
  if (bench_.world.rank() >= problem_.ranks) return;
  for (int set = 0; set < sets(); ++set) {
    const std::size_t bytes = rows_.size() * static_cast<std::size_t>(problem_.n) * sizeof(double);
    references_.push_back(run::device_memory(bytes));
    OVT_CHECK(cudaMemsetAsync(references_.back().get(), 0, bytes, bench_.world.stream()));
    accumulate(set, static_cast<double*>(references_.back().get()));
  }
}

void TestProblem::accumulate(int set, double* reference) {
  const cudaStream_t stream = bench_.world.stream();
  const int me = bench_.world.rank();
  const Dtype operand = operand_of(problem_.elements);
  const run::DeviceMemory a =
      run::device_memory(rows_.size() * static_cast<std::size_t>(problem_.k * bytes_of(operand)));
  const run::DeviceMemory b =
      run::device_memory(static_cast<std::size_t>(run::bytes_of_b(problem_)));
  const std::int64_t b_scales = scale_count(problem_.elements, problem_.n);
  const run::DeviceMemory scales =
      run::device_memory((rows_.size() + static_cast<std::size_t>(problem_.n)) * sizeof(float));
  auto* const of_b = static_cast<float*>(scales.get());
  float* const of_a = of_b + problem_.n;
  const bool of_rows = scales_of(problem_.elements) == Scales::rows;
  int b_of = -1;
  for (const RowSource& source : row_sources(problem_, me, rows_)) {
    const run::DeviceMemory rows = on_device(source.rows);
    const auto count = static_cast<std::int64_t>(source.rows.size());
    OVT_CHECK(kernels::fill_normal_rows(stream, a.get(), operand,
                                        static_cast<const std::int64_t*>(rows.get()), count,
                                        problem_.k, seed_of(set, source.rank, false)));
    if (b_of != source.owner_of_b) {
      b_of = source.owner_of_b;
      OVT_CHECK(kernels::fill_normal(stream, b.get(), operand, run::elements_of_b(problem_),
                                     seed_of(set, b_of, true)));
      OVT_CHECK(kernels::fill_scales(stream, of_b, nullptr, b_scales, scale_seed(set, b_of, true)));
    }
    const bool has_scales = is_scaled(problem_.elements);
    OVT_CHECK(kernels::fill_scales(
        stream, of_a, of_rows ? static_cast<const std::int64_t*>(rows.get()) : nullptr,
        has_scales ? (of_rows ? count : 1) : 0, scale_seed(set, source.rank, false)));
    OVT_CHECK(kernels::add_products(
        stream, a.get(), b.get(), reference + static_cast<std::int64_t>(source.first) * problem_.n,
        operand, count, problem_.n, problem_.k, has_scales ? of_a : nullptr,
        has_scales ? of_b : nullptr, of_rows));
    OVT_CHECK(cudaStreamSynchronize(stream));  // before `rows` goes
  }
}

void TestProblem::poison(int set) {
  const run::Operands& on = operands_[index(set)];
  const cudaStream_t stream = bench_.world.stream();
  // All bits set is NaN in every type.
  const std::int64_t bytes = run::bytes_of_c(problem_);
  const run::Operands& given_set = given()[index(set)];
  if (given_set.a != on.a) {
    OVT_CHECK(cudaMemsetAsync(const_cast<void*>(on.a), 0xff, exchanged_bytes(), stream));
  }
  for (void* const c : {on.c, given_set.c}) {
    OVT_CHECK(cudaMemsetAsync(c, 0xff, static_cast<std::size_t>(bytes), stream));
  }
  OVT_CHECK(cudaMemsetAsync(on.workspace, 0xff,
                            static_cast<std::size_t>(run::most_workspace_bytes(problem_)), stream));
}

void TestProblem::compare(int set, bool in_world) {
  if (bench_.world.rank() >= problem_.ranks) return;
  const std::span<const run::Operands> where = in_world ? operands() : given();
  OVT_CHECK(kernels::compare(bench_.world.stream(), where[index(set)].c,
                             run::elements_of_c(problem_), result_of(problem_.elements),
                             static_cast<const double*>(references_[index(set)].get()),
                             static_cast<const std::int64_t*>(rows_on_device_.get()),
                             static_cast<std::int64_t>(rows_.size()), problem_.n,
                             static_cast<kernels::Deviation*>(deviation_.get())));
}

kernels::Deviation TestProblem::deviation() {
  kernels::Deviation seen;
  if (bench_.world.rank() < problem_.ranks) {
    const cudaStream_t stream = bench_.world.stream();
    OVT_CHECK(
        cudaMemcpyAsync(&seen, deviation_.get(), sizeof seen, cudaMemcpyDeviceToHost, stream));
    OVT_CHECK(cudaMemsetAsync(deviation_.get(), 0, sizeof seen, stream));
    OVT_CHECK(cudaStreamSynchronize(stream));
  }
  const std::vector<double> worst =
      bench_.world.largest(std::vector<double>{seen.largest, static_cast<double>(seen.not_finite)});
  return {.largest = worst[0], .not_finite = static_cast<unsigned long long>(worst[1])};
}

}  // namespace overlaptune::cuda
