#include "machine/worker/gpu_record.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace overlaptune::cuda {
namespace {

ActivityKind kind_of(const char* kernel) {
  return classify({.type = RecordType::kernel, .name = kernel});
}

TEST(GpuRecord, kernels_are_classified_by_their_names) {
  using enum ActivityKind;
  const std::pair<const char*, ActivityKind> cases[] = {
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL", collective},
      {"_Z40ncclDevKernel_ReduceScatter_Sum_bf16_RING24ncclDevKernelArgsStorageILm4096EE",
       collective},
      {"ncclSymkDevKernel_AllGather_LLMC(ncclSymkDevWorkArgs4K)", collective},
      {"void overlaptune::kernels::(anonymous namespace)::peer_exchange<__nv_bfloat162, "
       "2>(Arguments)",
       collective},
      {"nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_TNT", gemm},
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_bias", gemm},
      {"sm80_xmma_gemm_bf16bf16_tn", gemm},
      {"ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn", gemm},
      {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816_128x128>(cutlass::Params)", gemm},
      {"void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16>(cublasParams)", gemm},
      {"std::enable_if<!T7, void>::type internal::gemvx::kernel<int, float>(T13)", gemm},
      {"wait_for_flag", signal},
      {"overlaptune_signal(unsigned int*)", signal},
      {"void at::native::vectorized_elementwise_kernel<4, float>(int)", other},
      {"copy_rows", other},
      {"", other},
      {"?", other},
  };
  for (const auto& [name, kind] : cases) EXPECT_EQ(kind_of(name), kind) << name;
}

TEST(GpuRecord, only_the_function_itself_counts) {
  using enum ActivityKind;
  EXPECT_EQ(kind_of("gemm_peer_store(ncclWindow_vidmem*, int)"), gemm);
  EXPECT_EQ(kind_of("void ovt::gemm_kernel<ovt::Tile<128>, ncclDevComm>(ncclDevComm)"), gemm);
  EXPECT_EQ(kind_of("fill(gemm::Params)"), other);
  EXPECT_EQ(kind_of("void fill<gemm::Params>()"), other);
  EXPECT_EQ(kind_of("void (anonymous namespace)::signaled_gemm<2>(int)"), gemm);
}

TEST(GpuRecord, copies_and_sets_need_no_name) {
  EXPECT_EQ(classify({.type = RecordType::copy, .name = "nccl gemm"}), ActivityKind::copy);
  EXPECT_EQ(classify({.type = RecordType::set}), ActivityKind::signal);
}

TEST(GpuRecord, function_names_are_readable) {
  EXPECT_EQ(function_name("_ZN3ovt4gemmILi128ELi256EEEvPKfi"), "ovt::gemm<128, 256>");
  EXPECT_EQ(function_name("void (anonymous namespace)::fill<int>(int*)"),
            "(anonymous namespace)::fill<int>");
  EXPECT_EQ(function_name("plain"), "plain");
  EXPECT_EQ(function_name("_Znot mangled"), "mangled");
  EXPECT_EQ(function_name("main::{lambda(int)#1}::operator()(int)"),
            "main::{lambda(int)#1}::operator");
  for (const char* hostile : {"", "(", ")", "<", ">>>", "((((", "void ", "<(>)<", "_Z", "a<b(c"}) {
    EXPECT_NO_THROW(static_cast<void>(function_name(hostile))) << hostile;
  }
}

TEST(GpuRecord, times_count_from_the_first_and_streams_from_0) {
  const auto activities = activities_of(
      {
          {.name = "ncclDevKernel",
           .stream = 900,
           .start_ns = 5'000'002'500,
           .end_ns = 5'000'004'000},
          {.name = "nvjet", .stream = 7, .start_ns = 5'000'000'000, .end_ns = 5'000'003'000},
          {.type = RecordType::copy,
           .name = "memcpy",
           .stream = 900,
           .start_ns = 5'000'004'000,
           .end_ns = 5'000'004'000},
      },
      3);
  const std::vector<Activity> expected{
      {3, 0, ActivityKind::gemm, "nvjet", us(0), us(3)},
      {3, 1, ActivityKind::collective, "ncclDevKernel", us(2.5), us(4)},
      {3, 1, ActivityKind::copy, "memcpy", us(4), us(4)}};
  EXPECT_EQ(activities, expected);
}

TEST(GpuRecord, what_has_no_times_is_left_out) {
  EXPECT_TRUE(activities_of({}, 0).empty());
  const auto activities = activities_of({{.name = "none", .start_ns = 0, .end_ns = 0},
                                         {.name = "unfinished", .start_ns = 100, .end_ns = 0},
                                         {.name = "backwards", .start_ns = 100, .end_ns = 99},
                                         {.name = "good", .start_ns = 200, .end_ns = 1200}},
                                        0);
  ASSERT_EQ(activities.size(), 1U);
  EXPECT_EQ(activities.front(), (Activity{.name = "good", .start = us(0), .end = us(1)}));
}

TEST(GpuRecord, the_order_of_arrival_does_not_matter) {
  std::mt19937_64 random(1);
  std::vector<GpuRecord> records;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const std::uint64_t start = 1'000'000 + 10 * i + random() % 10;
    records.push_back({.name = "k" + std::to_string(i),
                       .stream = random() % 5,
                       .start_ns = start,
                       .end_ns = start + random() % 1000});
  }
  const auto expected = activities_of(records, 1);
  for (int i = 0; i < 20; ++i) {
    std::shuffle(records.begin(), records.end(), random);
    ASSERT_EQ(activities_of(records, 1), expected);
  }
}

}  // namespace
}  // namespace overlaptune::cuda
