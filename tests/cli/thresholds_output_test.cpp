// The table of thresholds for a launcher, on a pass made by hand.

#include "cli/output/thresholds_output.hpp"

#include <gtest/gtest.h>

namespace overlaptune::cli {
namespace {

Operation operation(Product product, OperationKind kind, double sequential, double time) {
  return {.product = product,
          .kind = kind,
          .times_per_pass = 1,
          .problem = {.op = Op::gemm_reduce_scatter, .m = 64, .n = 512, .k = 128, .ranks = 4},
          .sequential = us(sequential),
          .time = us(time)};
}

TEST(Thresholds, a_launcher_gets_a_row_for_each_product_with_a_choice) {
  const Advice advice{
      .passes = {{.tp = 4,
                  .parallelism = Parallelism::sequence,
                  .tokens = 512,
                  .operations = {operation(Product::qkv, OperationKind::gemm, 50, 50),
                                 operation(Product::o, OperationKind::problem, 100, 77),
                                 operation(Product::down, OperationKind::problem, 100, 101)},
                  .times = {us(250), us(228)}}}};
  // Figures of a simulated machine cannot be taken for those of GPUs.
  EXPECT_EQ(to_csv(launcher_table(advice, {.machine = "sim", .name = "four"})),
            "tp,parallelism,product,op,n,k,dtype,from_tokens,origin,machine\n"
            "4,sp,o,gemm_reduce_scatter,512,128,bf16,512,simulated,sim:four\n"
            "4,sp,down,gemm_reduce_scatter,512,128,bf16,,simulated,sim:four\n");
  EXPECT_EQ(launcher_table(advice, {.machine = "cuda", .name = "four"}).rows.front().at(8),
            Cell(std::string("predicted")));
}

}  // namespace
}  // namespace overlaptune::cli
