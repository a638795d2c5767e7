#include "run/streams/fork.hpp"

#include "core/base/error.hpp"
#include "gpu.hpp"
#include "kernels/support.hpp"

namespace overlaptune::run {
namespace {

class ForkTest : public GpuTest {
 protected:
  /// A run that keeps its side stream busy, and then ends with an error or without.
  void run(cudaStream_t on, const SideStream& side, bool fails) const {
    Fork fork = side.fork(on);
    OVT_CHECK(kernels::spin(side.get(), 50'000'000));
    if (fails) throw Failure(ErrorKind::machine_unavailable, "a launch failed");
    fork.join();
  }

  /// Whether the caller's stream waits for the side stream after a run.
  bool waits(bool fails) {
    const SideStream side;
    const Event on_side = make_event(false);
    try {
      run(stream(), side, fails);
    } catch (const Failure&) {
      EXPECT_TRUE(fails);
    }
    OVT_CHECK(cudaEventRecord(on_side.get(), side.get()));
    OVT_CHECK(cudaStreamSynchronize(stream()));
    return cudaEventQuery(on_side.get()) == cudaSuccess;
  }
};

TEST_F(ForkTest, joins_after_a_run) {
  EXPECT_TRUE(waits(false));
}

TEST_F(ForkTest, joins_after_an_error) {
  EXPECT_TRUE(waits(true));
}

TEST_F(ForkTest, a_capture_ends_after_an_error) {
  const SideStream side;
  OVT_CHECK(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal));
  EXPECT_THROW(run(stream(), side, true), Failure);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream(), &graph), cudaSuccess);
  const Graph owned(graph);
  cudaStreamCaptureStatus status{};
  OVT_CHECK(cudaStreamIsCapturing(side.get(), &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
}

}  // namespace
}  // namespace overlaptune::run
