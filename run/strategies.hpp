#pragma once
// What a strategy brings to `run/`: a function that makes its plan. To add one: a file with that
// function, and a line in plan.cpp.

#include "run/pieces.hpp"

namespace overlaptune::run {

struct Request {
  const Engine& engine;
  const Problem& problem;
  const Config& config;
  std::span<const Operands> operands;
  Mutant mutant = Mutant::none;
  CommKey route{};       ///< of the config's collectives
  CommKey last_route{};  ///< of the last group's
};

Expected<std::unique_ptr<Plan>> make_sequential(const Request& request);
Expected<std::unique_ptr<Plan>> make_chunked(const Request& request);
Expected<std::unique_ptr<Plan>> make_signaled(const Request& request);

}  // namespace overlaptune::run
