#pragma once
// Checks of what a caller of run.h gives, alone and beside the other ranks. Each throws
// `c::Refusal` with a text that names the thing, what was expected and what to do.

#include "core/config/work.hpp"
#include "include/overlaptune/run.h"
#include "run/ranks.hpp"

namespace overlaptune::run {

/// Ends a call with OVT_ERROR_ARGUMENT.
[[noreturn]] void refuse(std::string message);

[[nodiscard]] WorldOptions options_of(const ovt_world_options* given);

/// Adds the caller's memory to the options, with an address for each rank.
void take_peers(const ovt_world_options* given, int ranks, WorldOptions& options);

/// Refuses options that this GPU cannot have.
void check_on(int device, const WorldOptions& options);

/// The work that is asked for, checked without a machine.
[[nodiscard]] Work work_of(const ovt_problem* problem, const char* config);

/// Refuses work that these ranks cannot run, that would use multicast which nobody allowed, or for
/// which their shared memory is too small.
void check_fits(const Work& work, const Engine& engine);

/// Refuses a plan or a family that needs more of the world's memory than was reserved.
void check_capacity(std::int64_t needed, const World& world);

/// The value that a rank tells the others in place of its request when it refuses.
inline constexpr std::uint64_t kRefused = 0;

/// Collective. Refuses where another rank asks for something else than this one, or has refused its
/// arguments. `asked`: all of what this rank asks for, as a text; `what`: its name, as in "problem
/// or config".
void agree(World& world, std::string_view asked, const char* what);

/// Collective. Refuses to grow the world's memory to `bytes`, or to destroy the world, where graphs
/// hold plans.
void refuse_to_grow(Ranks& ranks, std::size_t bytes);
void refuse_to_destroy(Ranks& ranks);

}  // namespace overlaptune::run
