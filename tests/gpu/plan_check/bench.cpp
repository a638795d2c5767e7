#include "tests/gpu/plan_check/bench.hpp"

#include "core/base/error.hpp"
#include "run/waits/patience.hpp"

namespace overlaptune::plan_check {

namespace {

constexpr std::int64_t kGivenBytes = std::int64_t{4} << 30;

}  // namespace

void check(ovt_status status) {
  if (status != OVT_OK) throw Failure(ErrorKind::machine_unavailable, ovt_run_last_error());
}

ovt_problem problem_of(const Problem& problem) {
  return {.size = sizeof(ovt_problem),
          .m = problem.m,
          .n = problem.n,
          .k = problem.k,
          .op = static_cast<ovt_op>(problem.op),
          .dtype = static_cast<ovt_dtype>(problem.elements),
          .ranks = problem.ranks,
          .reserved = 0};
}

ovt_sizes sizes_of(const Problem& problem, const Config& config) {
  const ovt_problem asked = problem_of(problem);
  ovt_sizes sizes{};
  sizes.size = sizeof sizes;
  check(ovt_plan_sizes(&asked, to_string(config).c_str(), &sizes));
  return sizes;
}

Bench::Bench(const RankProcess& process)
    : process_(process),
      comm_(process.join()),
      stream_(run::make_stream()),
      scratch_(run::device_memory(kMostValues * sizeof(double))),
      given_(comm_, process.rank(), process.ranks(),
             process.placement().gives_memory ? kGivenBytes : 0) {
  OVT_CHECK(cudaMemset(scratch_.get(), 0, kMostValues * sizeof(double)));
  const ovt_world_options options = given_.options();
  check(ovt_world_create(comm_, &options, &world_));
  process.step();
}

Bench::~Bench() {
  static_cast<void>(ovt_world_destroy(world_));
}

std::vector<double> Bench::largest(std::span<const double> values) {
  if (values.size() > kMostValues) throw Failure(ErrorKind::bad_input, "too many values");
  std::vector<double> result(values.begin(), values.end());
  auto* const device = static_cast<double*>(scratch_.get());
  OVT_CHECK(cudaMemcpyAsync(device, result.data(), values.size_bytes(), cudaMemcpyHostToDevice,
                            stream()));
  OVT_CHECK(ncclAllReduce(device, device, values.size(), ncclDouble, ncclMax, comm_, stream()));
  OVT_CHECK(cudaMemcpyAsync(result.data(), device, values.size_bytes(), cudaMemcpyDeviceToHost,
                            stream()));
  finish();
  return result;
}

void Bench::finish() const {
  run::wait_until([this] { return run::has_ended(stream()); }, process_.placement().patience(),
                  "plan_check");
  process_.step();
}

MadePlan::MadePlan(Bench& bench, const Problem& problem, const Config& config) {
  const ovt_problem asked = problem_of(problem);
  status_ = ovt_plan_create(bench.world(), &asked, to_string(config).c_str(), &plan_);
  if (status_ != OVT_OK) error_ = ovt_run_last_error();
  bench.process().step();
}

ovt_buffers MadePlan::buffers() const {
  ovt_buffers buffers{};
  buffers.size = sizeof buffers;
  check(ovt_plan_buffers(plan_, &buffers));
  return buffers;
}

void MadePlan::run(const void* a, const void* b, void* c, cudaStream_t stream,
                   const run::ScaleOperands& scales) const {
  if (scales == run::ScaleOperands{}) return check(ovt_plan_run(plan_, a, b, c, stream));
  check(ovt_plan_run_scaled(plan_, a, scales.a, b, scales.b, c, stream));
}

}  // namespace overlaptune::plan_check
