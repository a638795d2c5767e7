#pragma once
// Steps that each rank does by itself and that may fail on one of them. If one rank cannot go on,
// none does: the others would wait for it in the next collective.

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace overlaptune::run {

/// Runs a step. A `Failure` that it throws is returned as an error.
template <class Step>
Expected<void> caught(const Step& step) {
  try {
    return step();
  } catch (const Failure& failure) {
    return tl::make_unexpected(Error{failure.kind(), failure.what()});
  }
}

/// Collective: the outcome of a step on all ranks. `here`: the outcome on this rank, which is
/// returned if it is an error. If only other ranks failed, the error says so; it is `out_of_memory`
/// where one of them had too little memory. `task`: what cannot be done, as in "make this plan".
/// `World` has `double largest(double)`.
template <class World>
[[nodiscard]] Expected<void> agreed(World& world, Expected<void> here, const char* task) {
  constexpr double kDone = 0;
  constexpr double kFailed = 1;
  constexpr double kNoMemory = 2;
  double mine = kDone;
  if (!here) mine = here.error().kind == ErrorKind::out_of_memory ? kNoMemory : kFailed;
  const double worst = world.largest(mine);
  if (!here || worst == kDone) return here;
  if (worst == kNoMemory) {
    return tl::make_unexpected(
        Error{ErrorKind::out_of_memory,
              fmt::format("another rank has too little GPU memory to {}; its error says how much",
                          task)});
  }
  return bad_input(fmt::format("another rank cannot {}; its error says why", task));
}

}  // namespace overlaptune::run
