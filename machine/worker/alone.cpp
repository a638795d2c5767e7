#include "machine/worker/alone.hpp"

#include <utility>

#include "core/base/index.hpp"
#include "run/exchange/collective.hpp"

namespace overlaptune::cuda {
namespace {

run::GemmOperands gemm_operands(const Problem& problem, const run::Operands& on) {
  const OpTraits& op = traits_of(problem.op);
  if (op.exchanges_first) return {on.workspace, on.b, on.c, on.scales};
  return {on.a, on.b, op.in_place() ? on.c : on.workspace, on.scales};
}

}  // namespace

Expected<Alone> Alone::make(run::World& world, run::GemmLibrary& library, const Problem& problem,
                            std::span<const run::Operands> sets) {
  const run::GemmShape shape{
      .m = problem.m, .n = problem.n, .k = problem.k, .elements = problem.elements};
  std::vector<run::GemmOperands> operands;
  for (const run::Operands& on : sets) operands.push_back(gemm_operands(problem, on));
  const auto choice = library.choose(shape, operands);
  if (!choice) return error_of(choice);
  const run::CommKey route =
      run::route(collective_of(problem.op), problem.ranks, kNcclsChoice, Transport::ring);
  static_cast<void>(world.comm(route));
  const int count = static_cast<int>(sets.size());
  Replay gemm(world, count, [&](cudaStream_t stream, int set) {
    library.enqueue(stream, shape, *choice, operands[index(set)]);
  });
  const OpTraits& op = traits_of(problem.op);
  Replay collective(world, count, [&](cudaStream_t stream, int set) {
    const run::Operands& on = sets[index(set)];
    const void* const sent = op.exchanges_first ? on.a : op.in_place() ? on.c : on.workspace;
    run::enqueue(stream, world, route, collective_of(problem.op), exchanged_dtype(problem), sent,
                 op.exchanges_first ? on.workspace : on.c,
                 collective_bytes(problem).count / bytes_of(exchanged_dtype(problem)));
  });
  return Alone{std::move(gemm), std::move(collective)};
}

}  // namespace overlaptune::cuda
