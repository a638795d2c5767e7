#include "cluster/measured_rows.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlaptune::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<MeasuredRow> rows(const std::string& text, Operation asked = Operation::all_reduce) {
  return value_or_throw(parse_rows(text, "f", asked));
}

std::string error(const std::string& text) {
  const auto parsed = parse_rows(text, "f", Operation::all_reduce);
  return parsed ? "none" : parsed.error().message;
}

TEST(MeasuredRows, csv_with_columns_in_any_order) {
  EXPECT_THAT(rows("# source\ngpus,link,op,bytes,time_us\r\n8,x,all_reduce,1024,20.5\r\n"
                   "4,x,send,1e6,7\n"),
              ElementsAre(MeasuredRow{Operation::all_reduce, 8, 1024, 20.5},
                          MeasuredRow{Operation::send, 4, 1e6, 7}));
}

TEST(MeasuredRows, bad_csv_is_named) {
  const std::string head = "op,gpus,bytes,us\n";
  EXPECT_THAT(error(""), HasSubstr("f: no measured rows"));
  EXPECT_THAT(error(head), HasSubstr("f: no measured rows"));
  EXPECT_THAT(error("a,b\n1,2\n"), HasSubstr("line 1: 'a': expected a header"));
  EXPECT_THAT(error(head + "broadcast,8,1024,5\n"),
              HasSubstr("line 2: op 'broadcast': expected one of all_reduce"));
  EXPECT_THAT(error(head + "all_reduce,1,1024,5\n"), HasSubstr("line 2: gpus = '1'"));
  EXPECT_THAT(error(head + "all_reduce,2.5,1024,5\n"), HasSubstr("line 2: gpus = '2.5'"));
  EXPECT_THAT(error(head + "all_reduce,8,0,5\n"), HasSubstr("line 2: bytes = '0'"));
  for (const char* us : {"0", "-3", "nan", "inf", "", "5us"}) {
    EXPECT_THAT(error(head + "all_reduce,8,1024," + us + "\n"), HasSubstr("line 2: us = "));
  }
  EXPECT_THAT(error(head + "all_reduce,8,1024\n"), HasSubstr("line 2: 3 columns: expected 4"));
  EXPECT_THAT(
      error(head + "all_reduce,8,2048,9\nall_reduce,8,1024,5\n"),
      HasSubstr("line 3: 1024 bytes of all_reduce on 8 GPUs after 2048: expected ascending"));
  EXPECT_THAT(error(head + "all_reduce,8,1024,9\nall_reduce,8,1024,5\n"), HasSubstr("each once"));
}

const char* const kNow = R"(# nccl-tests version 2.17.6
# Collective test starting: all_gather_perf
# nThread 1 nGpus 1 minBytes 0 maxBytes 8192 step: 2(factor) warmup iters: 5 iters: 20
#
# Using devices
#  Rank  0 Group  0 Pid   1 on  host device  0 [0x18] NVIDIA H200
#  Rank  1 Group  0 Pid   2 on  host device  1 [0x2a] NVIDIA H200
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           0             0     float    none      -1     3.18    0.00    0.00      0     3.17    0.00    0.00      0
host:1:1 [0] NCCL INFO all_gather: some log
        4096           512     float    none      -1    11.13    0.37    0.32      0    10.32    0.37    0.32      0
        8192          1024     float    none      -1    12.00    0.37    0.32      0    10.32    0.37    0.32      0
# Out of bounds values : 0 OK
)";

TEST(NcclTests, the_out_of_place_times_with_op_and_gpus) {
  EXPECT_THAT(rows(kNow), ElementsAre(MeasuredRow{Operation::all_gather, 2, 4096, 11.13},
                                      MeasuredRow{Operation::all_gather, 2, 8192, 12.00}));
}

/// Without the column `root`; one process with 8 GPUs; the program is not named.
TEST(NcclTests, an_older_form) {
  const std::string old =
      "# nThread 1 nGpus 8 minBytes 8 maxBytes 8 step: 2(factor)\n"
      "#       size         count    type   redop     time   algbw   busbw  error     time   algbw "
      "  "
      "busbw  error\n"
      "     1048576        262144   float     sum    40.1    1.22    1.22  0e+00    11.85    1.38  "
      "  "
      "1.38  0e+00\n";
  EXPECT_THAT(rows(old, Operation::reduce_scatter),
              ElementsAre(MeasuredRow{Operation::reduce_scatter, 8, 1048576, 40.1}));
}

TEST(NcclTests, lines_that_mpirun_tagged) {
  std::string tagged;
  std::istringstream lines{std::string(kNow)};
  for (std::string line; std::getline(lines, line);) tagged += "[1,0]<stdout>:" + line + "\n";
  EXPECT_EQ(rows(tagged), rows(kNow));
}

TEST(NcclTests, bad_output_is_named) {
  EXPECT_THAT(error("# nThread 1 nGpus 1\n"), HasSubstr("expected rows of nccl-tests"));
  EXPECT_THAT(error("# nThread 1 nGpus 8\n 1024 256 float sum -1 0.00 0 0 0 5 1 1 0\n"),
              HasSubstr("line 2: time = '0.00'"));
  EXPECT_THAT(error("# nThread 1 nGpus 1\n 1024 256 float sum -1 9.1 0 0 0 5 1 1 0\n"),
              HasSubstr("line 2: expected lines '# Rank"));
}

}  // namespace
}  // namespace overlaptune::cluster
