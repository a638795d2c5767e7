#include "kernels/compile/compiler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/compile/device_headers.hpp"
#include "tests/kernels/sources.hpp"

namespace overlaptune::kernels {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// 100 values in 64 registers.
const KernelSource kSpilling{.name = "spilling", .text = R"(
extern "C" __global__ void __launch_bounds__(1024) spilling(float* p, int n) {
  float a[100];
#pragma unroll
  for (int i = 0; i < 100; i++) a[i] = p[i * n + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 100; i++) p[i + threadIdx.x * n] = a[i] * a[(i * 7) % 100];
}
)"};

/// An array with an index that the compiler does not know, and 256 bytes of shared memory.
const KernelSource kIndexing{.name = "indexing", .text = R"(
extern "C" __global__ void indexing(float* p, int n) {
  __shared__ float shared[64];
  float a[100];
  for (int i = 0; i < 100; i++) a[i] = p[i];
  shared[threadIdx.x] = a[n];
  __syncthreads();
  p[n] = a[static_cast<int>(shared[n % 64])];
}
)"};

using CompilerTest = WithNvrtc;

TEST_F(CompilerTest, makes_an_elf_file_for_each_architecture) {
  for (const char* architecture : {"sm_80", "sm_89", "sm_90a"}) {
    const auto cubin = compiler->compile(small_kernel(), architecture);
    ASSERT_TRUE(cubin) << cubin.error().message;
    EXPECT_THAT(cubin->bytes, testing::StartsWith("\177ELF"));
    EXPECT_THAT(cubin->bytes, HasSubstr(".text." + cubin->symbol));
    EXPECT_GT(cubin->properties.registers, 0);
    EXPECT_EQ(cubin->properties.spill_bytes, 0);
    EXPECT_EQ(cubin->properties.local_bytes, 0);
    EXPECT_THAT(cubin->warnings, testing::IsEmpty());
  }
}

TEST_F(CompilerTest, names_the_kernel_of_a_template) {
  KernelSource source = small_kernel(7);
  source.text += "template __global__ void small<8>(int*);\n";
  const auto cubin = compiler->compile(source, "sm_90a");
  ASSERT_TRUE(cubin) << cubin.error().message;
  EXPECT_EQ(cubin->symbol, "_Z5smallILi7EEvPi");  // Itanium C++ ABI, 5.1
  source.arguments = {"kNone"};
  EXPECT_FALSE(compiler->compile(source, "sm_90a"));
}

TEST_F(CompilerTest, a_source_includes_headers_of_the_program_and_no_files) {
  KernelSource source = small_kernel();
  source.text =
      "#include \"kernels/device/types.cuh\"\n"
      "static_assert(sizeof(overlaptune::kernels::device::TensorMap) == 128);\n" +
      source.text;
  const auto cubin = compiler->compile(source, "sm_90a");
  EXPECT_TRUE(cubin) << cubin.error().message;
  source.text = "#include \"kernels/compile/compiler.hpp\"\n" + source.text;
  EXPECT_FALSE(compiler->compile(source, "sm_90a"));
}

TEST_F(CompilerTest, sees_spills) {
  for (const char* architecture : {"sm_80", "sm_89", "sm_90a"}) {
    const auto cubin = compiler->compile(kSpilling, architecture);
    ASSERT_TRUE(cubin) << cubin.error().message;
    EXPECT_GT(cubin->properties.spill_bytes, 0) << architecture;
    EXPECT_GT(cubin->properties.local_bytes, 0) << architecture;
    EXPECT_LE(cubin->properties.registers, 64) << architecture;
  }
}

TEST_F(CompilerTest, sees_local_and_shared_memory) {
  const auto cubin = compiler->compile(kIndexing, "sm_90a");
  ASSERT_TRUE(cubin) << cubin.error().message;
  EXPECT_EQ(cubin->properties.spill_bytes, 0);
  EXPECT_EQ(cubin->properties.local_bytes, 400);
  EXPECT_EQ(cubin->properties.static_shared_bytes, 256);
}

TEST_F(CompilerTest, an_error_names_kernel_architecture_and_the_first_lines) {
  KernelSource source = small_kernel(3);
  source.text = "template <int> __global__ void small(int* p) { *p = nowhere; }\n";
  const auto cubin = compiler->compile(source, "sm_90a");
  ASSERT_FALSE(cubin);
  EXPECT_EQ(cubin.error().kind, ErrorKind::bad_input);
  EXPECT_THAT(cubin.error().message,
              AllOf(HasSubstr("kernel small<3> for sm_90a: NVRTC_ERROR_COMPILATION"),
                    HasSubstr("small.cu(1): error: identifier \"nowhere\" is undefined"),
                    Not(HasSubstr("\n"))));
}

TEST_F(CompilerTest, keeps_what_the_compiler_warns_of) {
  KernelSource source = small_kernel();
  source.text = "#warning look here\n" + source.text;
  const auto cubin = compiler->compile(source, "sm_90a");
  ASSERT_TRUE(cubin) << cubin.error().message;
  EXPECT_THAT(cubin->warnings, testing::Contains(HasSubstr("look here")));
}

TEST_F(CompilerTest, a_source_without_a_kernel_is_an_error) {
  const auto cubin = compiler->compile({.name = "none", .text = "__device__ int x;"}, "sm_90a");
  ASSERT_FALSE(cubin);
  EXPECT_THAT(cubin.error().message, HasSubstr("none"));
}

TEST_F(CompilerTest, knows_architectures) {
  EXPECT_TRUE(compiler->check_architecture("sm_90"));
  EXPECT_TRUE(compiler->check_architecture("sm_90a"));
  for (const char* wrong : {"", "sm_17", "90a", "sm_90b", "compute_90"}) {
    EXPECT_FALSE(compiler->check_architecture(wrong)) << wrong;
  }
  EXPECT_FALSE(compiler->compile(small_kernel(), "sm_17"));
}

TEST_F(CompilerTest, the_key_holds_all_that_decides_the_cubin) {
  const KernelSource source = small_kernel(1);
  const std::string key = compiler->key(source, "sm_90a");
  EXPECT_EQ(key, compiler->key(source, "sm_90a"));
  EXPECT_THAT(key, HasSubstr("NVRTC " + compiler->version()));
  EXPECT_NE(key, compiler->key(source, "sm_90"));
  EXPECT_NE(key, compiler->key(small_kernel(2), "sm_90a"));
  KernelSource other = source;
  other.text += " ";
  EXPECT_NE(key, compiler->key(other, "sm_90a"));
  EXPECT_THAT(key, HasSubstr(digest_of(device_headers())));
}

TEST(CompilerLoad, without_nvrtc_it_says_what_is_missing) {
  const auto none = Compiler::load({"/no/such/libnvrtc.so.13", "libc.so.6"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::machine_unavailable);
  EXPECT_THAT(none.error().message,
              AllOf(HasSubstr("/no/such/libnvrtc.so.13"), HasSubstr("libc.so.6 lacks nvrtc")));
}

TEST(ParseProperties, takes_the_most_of_each_kernel) {
  const auto most = parse_properties(R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'local' for 'sm_90a'
ptxas info    : Function properties for local
ptxas         .     400 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 400 bytes cumulative stack size, 256 bytes smem
ptxas info    : Compiling entry function 'spill' for 'sm_90a'
ptxas         .     336 bytes stack frame, 420 bytes spill stores, 432 bytes spill loads
ptxas info    : Used 64 registers, used 1 barriers, 336 bytes cumulative stack size
)");
  ASSERT_TRUE(most);
  EXPECT_EQ(
      *most,
      (CubinProperties{
          .registers = 64, .spill_bytes = 852, .local_bytes = 400, .static_shared_bytes = 256}));
  EXPECT_FALSE(parse_properties(""));
  EXPECT_FALSE(parse_properties("ptxas info    : 4 bytes gmem\n"));
}

}  // namespace
}  // namespace overlaptune::kernels
