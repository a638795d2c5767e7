// The C interface of plans. It checks every argument (run/c_api/c_arguments.hpp), and reports a
// failure as a status and a text; no exception leaves it.

#include <array>
#include <optional>

#include "core/abi/values.hpp"
#include "core/config/untuned.hpp"
#include "include/overlaptune/run.h"
#include "run/agreed.hpp"
#include "run/c_api/c_arguments.hpp"
#include "run/c_api/calls.hpp"
#include "run/deployed.hpp"
#include "run/host/detect.hpp"
#include "run/memory/given_memory.hpp"
#include "run/nccl.hpp"
#include "run/ranks.hpp"

using namespace overlaptune;
using c::present;
using c::Refusal;
using run::Call;
using run::guarded;
using run::OnDevice;
using run::Ranks;
using run::refuse;
using run::wait_for_plans;
using run::WorldOptions;

namespace {

/// Tells the other ranks that this one makes no world, so that they need not wait for it.
void decline(ncclComm_t comm) noexcept {
  if (comm == nullptr) return;
  try {
    const OnDevice current(run::device_of(comm));
    run::World::decline(comm, run::usual_time_limit().value_or(WorldOptions{}.time_limit));
  } catch (...) {  // the others wait as for a lost rank; the caller gets the first error
  }
}

/// The text that `make` returns, or that of its error.
template <class Make>
std::string text_or_error(const Make& make) {
  try {
    return make();
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

struct ovt_plan {
  std::shared_ptr<Ranks> ranks;
  std::unique_ptr<run::DeployedPlan> plan;
};

const char* ovt_run_version() {
  return c::version();
}

const char* ovt_run_last_error() {
  return c::last_error();
}

const char* ovt_run_nccl() {
  static const std::string words = text_or_error(run::nccl_in_words);
  return words.c_str();
}

ovt_status ovt_world_create(ncclComm_t comm, const ovt_world_options* options, ovt_world** world) {
  return guarded([&] {
    WorldOptions checked;
    std::optional<OnDevice> current;
    std::optional<run::World::Scratch> scratch;
    try {
      (void)present(world, "world");
      checked = run::options_of(options);
      if (comm == nullptr) refuse("comm: NULL");
      run::take_peers(options, run::ranks_of(comm), checked);
      const int device = run::device_of(comm);
      run::check_on(device, checked);
      current.emplace(device);
      run::check_given(checked, run::rank_of(comm), device);
      scratch = run::World::Scratch::make();
    } catch (...) {
      decline(comm);
      throw;
    }
    *world = new ovt_world{std::make_shared<Ranks>(comm, checked, std::move(*scratch))};
  });
}

ovt_status ovt_world_reserve(ovt_world* world, int64_t bytes) {
  return guarded([&] {
    Ranks& ranks = *present(world, "world")->ranks;
    const Call call(ranks);
    wait_for_plans(ranks);
    const bool refused = bytes < 0;
    const std::vector<double> asked =
        ranks.world.largest(std::array{static_cast<double>(bytes), refused ? 1.0 : 0.0});
    if (refused) refuse(fmt::format("bytes = {}: expected 0 or more", bytes));
    if (asked[1] > 0) refuse("another rank refused its arguments: see its error");
    const auto most = static_cast<std::size_t>(asked[0]);
    if (most <= ranks.world.capacity()) return;
    run::refuse_to_grow(ranks, most);
    // Before memory is given back, the ranks tell each other what is free: then all are idle.
    if (auto reserved = ranks.world.reserve_no_more(most); !reserved) {
      throw Refusal{OVT_ERROR_MEMORY, "ovt_world_reserve: " + reserved.error().message};
    }
  });
}

ovt_status ovt_world_abort(ovt_world* world) {
  return guarded([&] {
    constexpr std::chrono::seconds kCall{5};
    const std::shared_ptr<Ranks> ranks = present(world, "world")->ranks;
    ranks->world.end("ovt_world_abort has ended this world: destroy it, and make another one");
    // A call of another thread that waits for ranks sees this and ends the communicators. So does a
    // call that is inside NCCL, when NCCL lets it go.
    const std::unique_lock lock(ranks->calls, kCall);
    if (!lock) return;
    const OnDevice current(ranks->device);
    ranks->abandon();
  });
}

ovt_status ovt_world_check(ovt_world* world) {
  return guarded([&] {
    const auto ended = present(world, "world")->ranks->world.failure();
    if (ended) throw Refusal{OVT_ERROR_UNAVAILABLE, *ended};
  });
}

ovt_status ovt_world_destroy(ovt_world* world) {
  return guarded([&] {
    if (world == nullptr) return;
    const std::shared_ptr<Ranks> ranks = present(world, "world")->ranks;
    const std::lock_guard lock(ranks->calls);
    const OnDevice current(ranks->device);
    Expected<void> ended;
    if (!ranks->world.failure()) {
      ended = run::caught([&]() -> Expected<void> {
        run::refuse_to_destroy(*ranks);
        ranks->world.close();
        return {};
      });
    }
    ranks->abandon();
    delete world;
    if (!ended) throw Refusal{OVT_ERROR_UNAVAILABLE, std::move(ended.error().message)};
  });
}

ovt_status ovt_platform_detect(ovt_world* world, ovt_platform* platform) {
  return guarded([&] {
    const std::size_t size = c::size_of(platform, "ovt_platform");
    Ranks& ranks = *present(world, "world")->ranks;
    const Call call(ranks);
    wait_for_plans(ranks);
    const bool multicast = ranks.world.options().allow_multicast;
    c::write(value_or_throw(run::detect_platform(ranks.world, ranks.device, multicast)), platform);
    c::zero_beyond(size, platform);
  });
}

const char* ovt_run_ways() {
  static const std::string ways = text_or_error(all_ways);
  return ways.c_str();
}

ovt_status ovt_plan_config(const ovt_problem* problem, const char* way, char* config,
                           size_t capacity) {
  return guarded([&] {
    (void)present(config, "config");
    const auto made = untuned_config(c::problem_of(problem), present(way, "way"));
    run::write(to_string(value_or_throw(made)), config, capacity, OVT_CONFIG_SIZE);
  });
}

ovt_status ovt_plan_sizes(const ovt_problem* problem, const char* config, ovt_sizes* sizes) {
  return guarded([&] {
    const std::size_t size = c::size_of(sizes, "ovt_sizes");
    const Work work = run::work_of(problem, config);
    const run::DeployedSizes takes = run::deployed_sizes(work);
    run::write(work.problem(), takes.shared(), takes.scratch, size, sizes);
  });
}

ovt_status ovt_plan_create(ovt_world* world, const ovt_problem* problem, const char* config,
                           ovt_plan** plan) {
  return guarded([&] {
    const std::shared_ptr<Ranks> ranks = present(world, "world")->ranks;
    const Call call(*ranks);
    wait_for_plans(*ranks);
    std::optional<Work> work;
    try {
      (void)present(plan, "plan");
      work = run::work_of(problem, config);
      run::check_fits(*work, ranks->engine());
    } catch (...) {
      (void)ranks->world.told_by_all(run::kRefused);  // the others need not wait
      throw;
    }
    run::agree(ranks->world, to_string(work->problem()) + " " + to_string(work->config()),
               "problem or config");
    auto made = run::DeployedPlan::make(ranks->engine(), *work);
    *plan = new ovt_plan{ranks, value_or_throw(std::move(made))};
  });
}

ovt_status ovt_plan_buffers(const ovt_plan* plan, ovt_buffers* buffers) {
  return guarded([&] {
    const std::size_t size = c::size_of(buffers, "ovt_buffers");
    run::DeployedPlan& deployed = *present(plan, "plan")->plan;
    const Call call(*plan->ranks);
    run::write(deployed, size, buffers);
  });
}

ovt_status ovt_plan_run(ovt_plan* plan, const void* a, const void* b, void* c,
                        cudaStream_t stream) {
  return ovt_plan_run_scaled(plan, a, nullptr, b, nullptr, c, stream);
}

ovt_status ovt_plan_run_scaled(ovt_plan* plan, const void* a, const float* a_scales, const void* b,
                               const float* b_scales, void* c, cudaStream_t stream) {
  return guarded([&] {
    (void)present(plan, "plan");
    const Call call(*plan->ranks);
    run::run_plan(*plan->ranks, *plan->plan, stream,
                  {.a = a, .b = b, .c = c, .scales = {a_scales, b_scales}});
  });
}

void ovt_plan_destroy(ovt_plan* plan) {
  if (plan == nullptr) return;
  (void)guarded([&] {
    if (plan->ranks->is_held_after_its_end()) return;
    const OnDevice current(plan->ranks->device);
    delete plan;
  });
}
