#include "machine/worker/pair.hpp"

#include "core/base/error.hpp"
#include "run/exchange/collective.hpp"

namespace overlaptune::cuda {

Expected<Pair> Pair::make(Workbench& bench, const GemmProbe& gemm, const run::Crew& crew,
                          const CollectiveProbe& collective) {
  const auto route = route_of(bench, collective);
  if (!route) return error_of(route);
  Pair pair;
  pair.collective_ = collective.collective;
  pair.route_ = *route;
  pair.shape_ = {.m = gemm.m, .n = gemm.n, .k = gemm.k, .elements = gemm.elements, .sms = crew.sms};
  pair.count_ = element_count(collective);
  const auto room = placed(bench.world, [&](Bump& bump) {
    pair.operands_ = take_operands(bump, gemm);
    pair.buffers_ = take_buffers(bump, collective);
  });
  if (!room) return error_of(room);
  const cudaStream_t stream = bench.world.stream();
  fill(stream, gemm, pair.operands_, 0);
  const bool gathers = collective.collective == Collective::all_gather;
  const std::int64_t sent = gathers ? pair.count_ / route->ranks : pair.count_;
  OVT_CHECK(cudaMemsetAsync(pair.buffers_.send, 0x01,
                            static_cast<std::size_t>(sent * bytes_of(kMovedDtype)), stream));
  if (auto ready = run::make_ready(bench.world, *route); !ready) return error_of(ready);
  if (!gemm.tile.is_library()) {
    auto generated = generated_gemm(bench, gemm);
    if (!generated) return error_of(generated);
    pair.generated_ = *generated;
    pair.counter_ = run::device_memory(sizeof(std::uint32_t));
    pair.generated_launch_ =
        generated_launch(**generated, gemm, crew, pair.operands_, pair.counter_.get());
    return pair;
  }
  const auto choice = bench.library.choose(pair.shape_, std::span(&pair.operands_, 1));
  if (!choice) return error_of(choice);
  pair.choice_ = *choice;
  return pair;
}

void Pair::enqueue_gemm(Workbench& bench, cudaStream_t stream) const {
  if (generated_ != nullptr) {
    generated_->enqueue(stream, generated_launch_);
  } else {
    bench.library.enqueue(stream, shape_, choice_, operands_);
  }
}

void Pair::enqueue_collective(Workbench& bench, cudaStream_t stream) const {
  run::enqueue(stream, bench.world, route_, collective_, kMovedDtype, buffers_.send,
               buffers_.receive, count_);
}

}  // namespace overlaptune::cuda
