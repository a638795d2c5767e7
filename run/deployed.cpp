#include "run/deployed.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/hash.hpp"
#include "kernels/support.hpp"
#include "run/agreed.hpp"
#include "run/exchange/copies.hpp"
#include "run/host/inventory.hpp"
#include "run/streams/device_runs.hpp"
#include "strategies/runners.hpp"

namespace overlaptune::run {
namespace {

constexpr std::int64_t kAlign = 4096;

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kAlign - 1) / kAlign * kAlign;
}

std::int64_t exchanged_bytes(const Problem& problem) {
  return traits_of(problem.op).exchanges_first ? bytes_of_a(problem) : bytes_of_c(problem);
}

OperandBytes bytes_of_operands(const Problem& problem) {
  return {.a = static_cast<std::size_t>(bytes_of_a(problem)),
          .b = static_cast<std::size_t>(bytes_of_b(problem)),
          .c = static_cast<std::size_t>(bytes_of_c(problem)),
          .a_scales = static_cast<std::size_t>(bytes_of_a_scales(problem)),
          .b_scales = static_cast<std::size_t>(bytes_of_b_scales(problem))};
}

/// Room for the scales of A, and as much for those of B.
std::int64_t bytes_of_all_scales(const Problem& problem) {
  return 2 * aligned(std::max(bytes_of_a_scales(problem), bytes_of_b_scales(problem)));
}

PlanNames names_of(World& world, const Work& work) {
  return {world.waits().number_of(to_string(work.problem()) + " by " + to_string(work.config())),
          PlanName(fmt::format("{} {} {}", to_string(work.problem()), to_string(work.strategy()),
                               to_string(transport_of(work.config()))))};
}

/// For `Waits::set_plan`.
std::uint32_t number_of(const Work& work) {
  const std::uint64_t hash = fnv1a(to_string(work.problem()) + to_string(work.config()));
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

/// Whether collectives by this transport need A or C in memory that all ranks share.
bool exchanges_in_world(const Problem& problem, Transport transport) {
  const OpTraits& op = traits_of(problem.op);
  switch (transport) {
    case Transport::ring:
      // Sends need it: in a captured graph NCCL 2.28 lets a send write directly into the receiver's
      // memory if the memory of either rank is registered, as the world's is. If the other rank's
      // memory is not registered, the two ranks wait for each other.
      return op.collective == Collective::all_to_all;
    case Transport::symmetric:
      return true;
    case Transport::copy_engine:  // A is sent from where it is
      return !op.exchanges_first;
    case Transport::peer_access:
      // Others exchange the workspace, into which an all_gather stores and from which the rest
      // load.
      return op.in_place() || (op.exchanges_first && op.collective != Collective::all_gather);
  }
  return true;
}

DeviceMemory scratch(bool needed, std::int64_t bytes) {
  return needed ? device_memory(static_cast<std::size_t>(bytes)) : DeviceMemory();
}

}  // namespace

bool goes_through_world(const Work& work) {
  const Transport transport = transport_of(work.config());
  const OpTraits& op = traits_of(work.problem().op);
  // Where a GEMM stores its tiles at other ranks, results come into their C, unless that is a block
  // of each rank's own.
  const bool gemm_stores =
      !op.exchanges_first && traits_of(work.strategy()).in_gemm.contains(transport);
  if (gemm_stores) return !op.c_is_block;
  return exchanges_in_world(work.problem(), transport);
}

void enqueue_moving(cudaStream_t stream, Plan& plan, const Operands& in_world,
                    const Operands& given, std::size_t bytes) {
  if (in_world.a != given.a) {
    copy(stream, const_cast<void*>(in_world.a), given.a, bytes);
  }
  plan.enqueue(stream, in_world);
  if (in_world.c != given.c) copy(stream, given.c, in_world.c, bytes);
}

DeployedSizes deployed_sizes(const Work& work) {
  const Problem& problem = work.problem();
  const std::int64_t all = bytes_of_a(problem) + bytes_of_b(problem) + bytes_of_c(problem);
  DeployedSizes sizes{.workspace = aligned(workspace_bytes(work)),
                      .scratch = all + bytes_of_all_scales(problem)};
  if (goes_through_world(work)) {
    const std::int64_t bytes = exchanged_bytes(problem);
    sizes.exchanged = aligned(bytes);
    sizes.scratch -= bytes;
  }
  return sizes;
}

DeployedPlan::DeployedPlan(const Engine& engine, const Work& work, const PlanNames& names)
    : world_(engine.world),
      sizes_(deployed_sizes(work)),
      generation_(world_.generation()),
      gathers_(traits_of(work.problem().op).exchanges_first),
      bytes_(bytes_of_operands(work.problem())),
      operand_bytes_(static_cast<std::size_t>(exchanged_bytes(work.problem()))),
      names_(names),
      work_(number_of(work)) {
  world_.waits().set_plan(names_.number, work_);
  locate();
}

void DeployedPlan::locate() {
  if (sizes_.exchanged > 0) exchanged_ = world_.memory();
  if (sizes_.workspace > 0) workspace_ = world_.memory() + sizes_.exchanged;
}

void DeployedPlan::find_memory() {
  if (generation_ == world_.generation()) return;
  if (sizes_.shared() > static_cast<std::int64_t>(world_.capacity())) {
    throw Failure(ErrorKind::bad_input,
                  fmt::format("the plan needs {} bytes of the world's memory, which has {} since "
                              "ovt_world_reserve failed: reserve them again",
                              sizes_.shared(), world_.capacity()));
  }
  locate();
  plan_->forget_addresses();
  generation_ = world_.generation();
}

Expected<std::unique_ptr<DeployedPlan>> DeployedPlan::make(const Engine& engine, const Work& work) {
  const Problem& problem = work.problem();
  std::unique_ptr<DeployedPlan> made(new DeployedPlan(engine, work, names_of(engine.world, work)));
  World& world = engine.world;
  const World::Compilation compilation(world);
  const auto on_all_ranks = [&](const auto& step) {
    return agreed(world, caught(step), "make this plan");
  };
  DeviceMemory a;
  DeviceMemory b;
  DeviceMemory c;
  DeviceMemory scales;  // of A, and of B behind them
  const auto allocated = on_all_ranks([&]() -> Expected<void> {
    a = scratch(made->exchanged_a() == nullptr, bytes_of_a(problem));
    b = scratch(true, bytes_of_b(problem));
    c = scratch(made->exchanged_c() == nullptr, bytes_of_c(problem));
    scales = scratch(is_scaled(problem.elements), bytes_of_all_scales(problem));
    return {};
  });
  if (!allocated) return error_of(allocated);
  auto* const a_scales = static_cast<float*>(scales.get());
  const Operands operands{
      .a = a ? a.get() : made->exchanged_a(),
      .b = b.get(),
      .c = c ? c.get() : made->exchanged_c(),
      .workspace = made->workspace_,
      .scales = {a_scales, scales ? a_scales + bytes_of_all_scales(problem) / 8 : nullptr}};
  // Normally distributed numbers: the SM clock depends on the data, and the fastest algorithm on
  // the clock.
  const auto seed = static_cast<std::uint64_t>(world.rank());
  OVT_CHECK(kernels::fill_normal(world.stream(), const_cast<void*>(operands.a),
                                 operand_of(problem.elements), elements_of_a(problem), 2 * seed));
  OVT_CHECK(kernels::fill_normal(world.stream(), b.get(), operand_of(problem.elements),
                                 elements_of_b(problem), 2 * seed + 1));
  const auto scale_floats = bytes_of_all_scales(problem) / static_cast<std::int64_t>(sizeof(float));
  OVT_CHECK(kernels::fill_scales(world.stream(), a_scales, nullptr, scale_floats, seed));
  const auto planned = on_all_ranks([&]() -> Expected<void> {
    auto plan = make_plan({.engine = engine, .work = work, .operands = std::span(&operands, 1)});
    if (!plan) return error_of(plan);
    made->plan_ = std::move(*plan);
    return {};
  });
  if (!planned) return error_of(planned);
  {
    const DeviceRuns::Next next(DeviceRuns::of(current_device()), world.stream());
    made->enqueue(world.stream(), operands);
  }
  try {
    world.finish(world.stream(), "the first run of the plan");
  } catch (const Failure&) {
    // Freeing memory would wait for the run that has not ended.
    for (DeviceMemory* memory : {&a, &b, &c, &scales}) memory->leak();
    static_cast<void>(made.release());
    throw;
  }
  return made;
}

Expected<std::unique_ptr<DeployedPlan>> DeployedPlan::make_alone(
    const Engine& engine, const Work& work, std::shared_ptr<FamilyParts> family,
    const PlanNames& names) {
  std::unique_ptr<DeployedPlan> made(new DeployedPlan(engine, work, names));
  auto plan = make_plan({.engine = engine, .work = work, .family = std::move(family)});
  if (!plan) return error_of(plan);
  made->plan_ = std::move(*plan);
  return made;
}

std::string DeployedPlan::mistake_in(const Operands& given) const {
  const WrittenMemory written{.begin = world_.memory(),
                              .bytes = static_cast<std::size_t>(sizes_.shared()),
                              .a = exchanged_a(),
                              .c = exchanged_c()};
  return run::mistake_in(given, bytes_, written);
}

bool DeployedPlan::is_reached(const void* c) const {
  if (!takes_results() || !world_.results()->has(c, operand_bytes_)) return false;
  const auto* const begin = world_.results()->begin();
  return (static_cast<const std::byte*>(c) - begin) % kernels::device::kPlaceBytes == 0;
}

void DeployedPlan::enqueue(cudaStream_t stream, const Operands& given) {
  const PlanName::Range range(names_.range);
  world_.waits().set_plan(names_.number, work_);
  Operands operands = given;
  operands.workspace = workspace_;
  if (exchanged_ != nullptr && gathers_) operands.a = exchanged_;
  if (exchanged_ != nullptr && !gathers_ && !is_reached(given.c)) operands.c = exchanged_;
  enqueue_moving(stream, *plan_, operands, given, operand_bytes_);
}

}  // namespace overlaptune::run
