// The tracer over a made-up CUPTI, which needs no GPU.

#include "machine/worker/tracer.hpp"

#include <dlfcn.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/machine/worker/fake_cupti.hpp"

namespace overlaptune::cuda {
namespace {

using fake_cupti::Control;
using ::testing::HasSubstr;

class TracerTest : public testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen(OVERLAPTUNE_FAKE_CUPTI, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
    control_ = static_cast<Control*>(dlsym(library_, "fake_cupti_control"));
    ASSERT_NE(control_, nullptr);
    pristine_ = *control_;
  }
  void TearDown() override {
    *control_ = pristine_;
    dlclose(library_);
  }

  [[nodiscard]] Control& fake() const { return *control_; }

  void fail(const char* call, int status, int good_calls = 0) const {
    fake().failing_call = call;
    fake().status = status;
    fake().good_calls = good_calls;
  }

  static std::unique_ptr<Tracer> open() {
    return value_or_throw(Tracer::open({OVERLAPTUNE_FAKE_CUPTI}));
  }

 private:
  void* library_ = nullptr;
  Control* control_ = nullptr;
  Control pristine_{};
};

TEST_F(TracerTest, records_what_happens_between_start_and_stop) {
  const auto tracer = open();
  fake().kernel("before", 1, 100, 200);
  tracer->start();
  fake().kernel("nvjet_hsh", 13, 2'000, 5'000);
  fake().set(20, 2'500, 2'600);
  fake().kernel("ncclDevKernel_AllReduce", 20, 3'000, 7'000);
  fake().copy(13, 5'000, 6'000);
  fake().peer_copy(21, 8'000, 9'000);
  const std::vector<Activity> activities = tracer->stop(2);
  fake().kernel("after", 1, 9'100, 9'200);
  const std::vector<Activity> expected{
      {2, 0, ActivityKind::gemm, "nvjet_hsh", us(0), us(3)},
      {2, 1, ActivityKind::signal, "memset", us(0.5), us(0.6)},
      {2, 1, ActivityKind::collective, "ncclDevKernel_AllReduce", us(1), us(5)},
      {2, 0, ActivityKind::copy, "memcpy on the device", us(3), us(4)},
      {2, 2, ActivityKind::collective, "memcpy peer to peer", us(6), us(7)}};
  EXPECT_EQ(activities, expected);
  EXPECT_EQ(tracer->dropped(), 0U);

  tracer->start();
  fake().kernel("again", 1, 10'000, 11'000);
  EXPECT_EQ(tracer->stop(0).size(), 1U);
  tracer->start();
  EXPECT_TRUE(tracer->stop(0).empty());
}

TEST_F(TracerTest, a_second_start_begins_anew) {
  const auto tracer = open();
  tracer->start();
  fake().kernel("first", 1, 100, 200);
  tracer->start();
  fake().kernel("second", 1, 300, 400);
  const auto activities = tracer->stop(0);
  ASSERT_EQ(activities.size(), 1U);
  EXPECT_EQ(activities.front().name, "second");
}

TEST_F(TracerTest, many_records_take_several_aligned_buffers) {
  const auto tracer = open();
  tracer->start();
  constexpr std::uint64_t kKernels = 20'000;
  for (std::uint64_t i = 0; i < kKernels; ++i) fake().kernel("k", 1, 100 + i, 101 + i);
  EXPECT_EQ(tracer->stop(0).size(), kKernels);
  EXPECT_GT(fake().buffers, 1U);
  EXPECT_EQ(fake().misaligned, 0U);
}

TEST_F(TracerTest, holes_are_counted) {
  const auto tracer = open();
  tracer->start();
  fake().dropped = 7;
  fake().kernel("good", 1, 100, 200);
  fake().kernel("untimed", 1, 0, 0);
  EXPECT_EQ(tracer->stop(0).size(), 1U);
  EXPECT_EQ(tracer->dropped(), 8U);

  tracer->start();
  EXPECT_EQ(tracer->dropped(), 0U);
  fake().damage = true;
  fake().kernel("good", 1, 100, 200);
  fake().kernel("behind the damage", 1, 100, 200);
  EXPECT_EQ(tracer->stop(0).size(), 1U);
  EXPECT_EQ(tracer->dropped(), 1U);
}

TEST_F(TracerTest, one_at_a_time) {
  auto tracer = open();
  const auto second = Tracer::open({OVERLAPTUNE_FAKE_CUPTI});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("open already"));
  tracer->start();  // the refused one has not touched it
  fake().kernel("k", 1, 100, 200);
  EXPECT_EQ(tracer->stop(0).size(), 1U);
  tracer.reset();
  EXPECT_NO_THROW(open());
}

TEST_F(TracerTest, every_status_of_every_call_becomes_one_line) {
  for (int status = 1; status <= 47; ++status) {
    const int code = status == 47 ? 999 : status;  // CUPTI_ERROR_UNKNOWN
    for (const char* call :
         {"cuptiActivityRegisterCallbacks", "cuptiActivityEnable", "cuptiActivityDisable"}) {
      fail(call, code);
      const auto tracer = Tracer::open({OVERLAPTUNE_FAKE_CUPTI});
      fail(nullptr, 0);
      ASSERT_FALSE(tracer) << call << " " << code;
      EXPECT_EQ(tracer.error().kind, ErrorKind::machine_unavailable);
      EXPECT_THAT(tracer.error().message,
                  testing::StartsWith(std::string(call) +
                                      (code == 999 ? ": unknown status (" : ": FAKE_STATUS (") +
                                      std::to_string(code) + ")"));
      EXPECT_EQ(tracer.error().message.find('\n'), std::string::npos);
    }
    const auto tracer = open();
    fail("cuptiActivityEnable", code, 2);
    EXPECT_THROW(tracer->start(), Failure);
    for (const char* call :
         {"cuptiActivityDisable", "cuptiActivityFlushAll", "cuptiActivityGetNumDroppedRecords"}) {
      fail(nullptr, 0);
      tracer->start();
      fail(call, code);
      EXPECT_THROW(static_cast<void>(tracer->stop(0)), Failure) << call;
      fake().kernel("nobody records this", 1, 100, 200);
    }
    fail(nullptr, 0);
    tracer->start();
    EXPECT_TRUE(tracer->stop(0).empty());
  }
}

TEST_F(TracerTest, says_what_to_do_about_the_usual_statuses) {
  fail("cuptiActivityEnable", 35);
  EXPECT_THAT(Tracer::open({OVERLAPTUNE_FAKE_CUPTI}).error().message,
              HasSubstr("NVreg_RestrictProfilingToAdminUsers"));
  fail("cuptiActivityEnable", 39);
  EXPECT_THAT(Tracer::open({OVERLAPTUNE_FAKE_CUPTI}).error().message,
              HasSubstr("another profiler"));
  fail("cuptiActivityEnable", 15);
  EXPECT_THAT(Tracer::open({OVERLAPTUNE_FAKE_CUPTI}).error().message, HasSubstr("driver"));
}

TEST_F(TracerTest, a_library_that_is_missing_or_unfit_is_named) {
  const auto missing = Tracer::open({"libnone.so.1", "/nowhere/libnone.so"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::machine_unavailable);
  EXPECT_THAT(missing.error().message, HasSubstr("libnone.so.1, /nowhere/libnone.so: install"));

  fake().version = 28;  // of CUDA 12.9
  const auto old = Tracer::open({"libnone.so.1", OVERLAPTUNE_FAKE_CUPTI});
  ASSERT_FALSE(old);
  EXPECT_THAT(old.error().message, HasSubstr("has version 28"));

  const auto other = Tracer::open({"libm.so.6"});
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("libm.so.6 lacks cuptiGetVersion"));
}

}  // namespace
}  // namespace overlaptune::cuda
