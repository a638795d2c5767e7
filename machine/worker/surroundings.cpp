#include "machine/worker/surroundings.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "kernels/support.hpp"

namespace overlaptune::cuda {
namespace {

/// One thread waits in the pause, so that the host stays ahead of the GPU.
constexpr std::int64_t kPause = 2'000'000;  // ns
/// By then the copy is under way.
constexpr std::int64_t kCopyStart = 20'000;         // ns
constexpr std::int64_t kLongestCopy = 100'000'000;  // ns
/// Upper limit of the host time to enqueue what is around one run.
constexpr std::int64_t kSubmission = 40'000;  // ns

}  // namespace

Expected<std::unique_ptr<Surroundings>> Surroundings::make(Workbench& bench, RunPhase phase) {
  std::unique_ptr<Surroundings> made(new Surroundings(phase));
  if (phase == RunPhase::steady) return made;
  made->bytes_ = 2 * bench.l2_bytes;
  const auto bytes = static_cast<std::size_t>(made->bytes_);
  const auto lacks = lacking(bench.world, [&] {
    made->written_ = run::device_memory(bytes);
    if (phase == RunPhase::beside) {
      made->read_ = run::device_memory(bytes);
      made->flag_ = run::device_memory(sizeof(std::uint32_t));
    }
  });
  if (lacks) {
    return bad_input(fmt::format("phase {}: {}", to_string(phase),
                                 lacks->empty() ? "another rank lacks the memory for it" : *lacks));
  }
  if (phase != RunPhase::beside) return made;
  made->copies_ = run::make_stream();
  made->begun_ = run::make_event(false);
  made->ended_ = run::make_event(false);
  const cudaStream_t stream = bench.world.stream();
  OVT_CHECK(kernels::fill_normal(stream, made->read_.get(), Dtype::bf16, made->bytes_ / 2, 1));
  made->begin_copy(stream);  // loads the kernel
  made->end_copy(stream);
  OVT_CHECK(cudaStreamSynchronize(stream));
  return made;
}

Around Surroundings::around() {
  switch (phase_) {
    case RunPhase::steady:
      break;
    case RunPhase::cold:
      return {.before =
                  [this](cudaStream_t stream) {
                    OVT_CHECK(cudaMemsetAsync(written_.get(), 0x01,
                                              static_cast<std::size_t>(bytes_), stream));
                    OVT_CHECK(kernels::spin(stream, kPause));
                  },
              .submission = kSubmission};
    case RunPhase::beside:
      return {.before = [this](cudaStream_t stream) { begin_copy(stream); },
              .after = [this](cudaStream_t stream) { end_copy(stream); },
              .submission = kSubmission};
  }
  return {};
}

void Surroundings::begin_copy(cudaStream_t stream) {
  auto* const flag = static_cast<std::uint32_t*>(flag_.get());
  OVT_CHECK(cudaMemsetAsync(flag, 0, sizeof *flag, stream));
  OVT_CHECK(cudaEventRecord(begun_.get(), stream));
  OVT_CHECK(cudaStreamWaitEvent(copies_.get(), begun_.get(), 0));
  OVT_CHECK(kernels::copy_until(copies_.get(), written_.get(), read_.get(), bytes_, kCopySms, flag,
                                kLongestCopy));
  OVT_CHECK(cudaEventRecord(ended_.get(), copies_.get()));
  OVT_CHECK(kernels::spin(stream, kCopyStart));
}

void Surroundings::end_copy(cudaStream_t stream) {
  OVT_CHECK(cudaMemsetAsync(flag_.get(), 1, sizeof(std::uint32_t), stream));
  OVT_CHECK(cudaStreamWaitEvent(stream, ended_.get(), 0));
}

}  // namespace overlaptune::cuda
