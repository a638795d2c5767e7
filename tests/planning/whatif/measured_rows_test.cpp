#include "planning/whatif/measured_rows.hpp"

#include <fstream>
#include <iterator>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlaptune::cluster {

/// Whether two rows measured the same.
static bool operator==(const MeasuredRow& a, const MeasuredRow& b) {
  return a.operation == b.operation && a.gpus == b.gpus && a.bytes == b.bytes && a.us == b.us;
}

namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<MeasuredRow> rows_of(const std::string& text, Operation asked = Operation::all_reduce) {
  return value_or_throw(parse_rows(text, "f", asked));
}

std::string error_of_rows(const std::string& text) {
  const auto parsed = parse_rows(text, "f", Operation::all_reduce);
  return parsed ? "none" : parsed.error().message;
}

TEST(MeasuredRows, csv_with_columns_in_any_order) {
  EXPECT_THAT(rows_of("# source\ngpus,link,op,bytes,time_us\r\n8,x,all_reduce,1024,20.5\r\n"
                      "4,x,send,1e6,7\n"),
              ElementsAre(MeasuredRow{Operation::all_reduce, 8, 1024, 20.5},
                          MeasuredRow{Operation::send, 4, 1e6, 7}));
}

TEST(MeasuredRows, bad_csv_is_named) {
  const std::string head = "op,gpus,bytes,us\n";
  EXPECT_THAT(error_of_rows(""), HasSubstr("f: no measured rows"));
  EXPECT_THAT(error_of_rows(head), HasSubstr("f: no measured rows"));
  EXPECT_THAT(error_of_rows("a,b\n1,2\n"), HasSubstr("line 1: 'a,b': expected a header"));
  EXPECT_THAT(error_of_rows("op,gpus,bytes,time_ms\nall_reduce,8,1024,5\n"),
              AllOf(HasSubstr("line 1: 'op,gpus,bytes,time_ms'"), HasSubstr("; us missing")));
  EXPECT_THAT(error_of_rows("gpus,us\n8,5\n"), HasSubstr("; op, bytes missing"));
  for (const char* columns : {"us,us", "us,time_us", "Us,US", "us,bytes,SIZE"}) {
    EXPECT_THAT(error_of_rows(std::string("op,gpus,bytes,") + columns + "\n"),
                AllOf(HasSubstr("line 1: columns '"), HasSubstr("expected one of them")))
        << columns;
  }
  EXPECT_THAT(error_of_rows(head + "all_reduce,99999999999,1024,5\n"),
              HasSubstr("expected a whole number from 2 to 1048576"));
  EXPECT_THAT(error_of_rows(head + "all_reduce,8,1024,1e300\n"), HasSubstr("at most 1e+12"));
  EXPECT_THAT(error_of_rows(head + "broadcast,8,1024,5\n"),
              HasSubstr("line 2: op 'broadcast': expected one of all_reduce"));
  EXPECT_THAT(error_of_rows(head + "all_reduce,1,1024,5\n"), HasSubstr("line 2: gpus = '1'"));
  EXPECT_THAT(error_of_rows(head + "all_reduce,2.5,1024,5\n"), HasSubstr("line 2: gpus = '2.5'"));
  EXPECT_THAT(error_of_rows(head + "all_reduce,8,0,5\n"), HasSubstr("line 2: bytes = '0'"));
  for (const char* us : {"0", "-3", "nan", "inf", "", "5us"}) {
    EXPECT_THAT(error_of_rows(head + "all_reduce,8,1024," + us + "\n"), HasSubstr("line 2: us = "));
  }
  EXPECT_THAT(error_of_rows(head + "all_reduce,8,1024\n"),
              HasSubstr("line 2: 3 columns: expected 4"));
  EXPECT_THAT(
      error_of_rows(head + "all_reduce,8,2048,9\nall_reduce,8,1024,5\n"),
      HasSubstr("line 3: 1024 bytes of all_reduce on 8 GPUs after 2048: expected ascending"));
  EXPECT_THAT(error_of_rows(head + "all_reduce,8,1024,9\nall_reduce,8,1024,5\n"),
              HasSubstr("each once"));
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
  EXPECT_THAT(rows_of(kNow), ElementsAre(MeasuredRow{Operation::all_gather, 2, 4096, 11.13},
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
  EXPECT_THAT(rows_of(old, Operation::reduce_scatter),
              ElementsAre(MeasuredRow{Operation::reduce_scatter, 8, 1048576, 40.1}));
}

TEST(NcclTests, lines_that_mpirun_tagged) {
  std::string tagged;
  std::istringstream lines{std::string(kNow)};
  for (std::string line; std::getline(lines, line);) tagged += "[1,0]<stdout>:" + line + "\n";
  EXPECT_EQ(rows_of(tagged), rows_of(kNow));
}

std::string file(const std::string& name) {
  std::ifstream stream(std::string(OVERLAPTUNE_TEST_DATA) + "/inputs/" + name);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// A log of ranks with 8 GPUs and one row, after lines that are changed.
std::string log_of(const std::string& ranks, const std::string& row, const std::string& end = "") {
  return "# nThread 1 nGpus 1\n" + ranks +
         "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n" + row +
         end;
}

std::string rank(int number, int group = 0) {
  std::ostringstream line;
  line << "#  Rank " << number << " Group " << group << " Pid 1 on host device 0 [0x18] H200\n";
  return line.str();
}

constexpr const char* kRow = " 1048576 262144 float sum -1 50 20.97 20.97 0 50 20.97 20.97 0\n";

TEST(NcclTests, a_list_of_ranks_with_gaps_or_repeats_is_refused) {
  EXPECT_THAT(error_of_rows(file("nccl-tests-elided72.txt")),
              AllOf(HasSubstr("line 13: "), HasSubstr("the list of ranks has 4 of 72")));
  EXPECT_THAT(error_of_rows(log_of(rank(0) + rank(1) + "# ...\n", kRow)), HasSubstr("shortened"));
  EXPECT_THAT(error_of_rows(log_of(rank(0) + rank(1) + rank(1), kRow)),
              AllOf(HasSubstr("line 4: "), HasSubstr("rank 1 is listed twice")));
  EXPECT_THAT(error_of_rows("# nThread 1 nGpus 8\n" + rank(0) + rank(1) + kRow),
              HasSubstr("has 2, processes have 8 each"));
  EXPECT_EQ(rows_of(log_of(rank(0) + rank(1) + rank(2, 1) + rank(3, 1), kRow)).front().gpus, 2);
}

TEST(NcclTests, wrong_results_are_refused) {
  EXPECT_THAT(error_of_rows(file("nccl-tests-wrong.txt")),
              AllOf(HasSubstr("line 16: "), HasSubstr("#wrong is 524288")));
  EXPECT_THAT(
      error_of_rows(log_of(rank(0) + rank(1), kRow, "# Out of bounds values : 12 FAILED\n")),
      AllOf(HasSubstr("line 6: "), HasSubstr("FAILED")));
  EXPECT_THAT(
      error_of_rows(log_of(rank(0) + rank(1), " 1024 256 float sum -1 50 1 1 0 50 1 1 3\n")),
      HasSubstr("#wrong is 3"));
}

TEST(NcclTests, counts_of_wrong_results_that_are_no_numbers_are_refused) {
  const auto with = [](const std::string& wrong) {
    return log_of(rank(0) + rank(1), " 1024 256 float sum -1 50 1 1 " + wrong + " 50 1 1 0\n");
  };
  for (const char* wrong : {"0x10", "true", "nan", "-", "1e+01*"}) {
    EXPECT_THAT(error_of_rows(with(wrong)),
                AllOf(HasSubstr("f: line 5: "), HasSubstr(std::string("#wrong is ") + wrong)));
  }
  for (const char* right : {"0", "0e+00", "N/A"}) EXPECT_EQ(rows_of(with(right)).size(), 1U);
  // Older tests print how far results are off, and mark what is too far.
  std::string old = with("1e+01*");
  for (auto at = old.find("#wrong"); at != old.npos; at = old.find("#wrong")) {
    old.replace(at, 6, "error");
  }
  EXPECT_THAT(error_of_rows(old), HasSubstr("line 5: error = '1e+01*'"));
  EXPECT_THAT(error_of_rows(log_of(rank(0) + rank(1), kRow, "# Out of bounds values : 3 FAIL\n")),
              HasSubstr("out of bounds values"));
}

TEST(NcclTests, rows_with_remarks_or_odd_sizes_are_read_or_refused) {
  const auto with = [](const std::string& row) { return log_of(rank(0) + rank(1), row + "\n"); };
  const std::string rest = " float sum -1 50 20.97 20.97 0 50 20.97 20.97 0";
  const auto right = rows_of(with("1048576 262144" + rest));
  EXPECT_EQ(rows_of(with("1048576 262144" + rest + " # ok")), right);
  EXPECT_EQ(rows_of(with("1M 262144" + rest)), right);
  EXPECT_EQ(rows_of(with("node#1: 1048576 262144" + rest)), right);
  EXPECT_THAT(error_of_rows(with("1,048,576 262,144" + rest)),
              HasSubstr("f: line 5: size = '1,048,576': expected a whole number of bytes"));
  EXPECT_THAT(error_of_rows(with("1.5e6 262144" + rest)), HasSubstr("line 5: size = '1.5e6'"));
  // A row that somebody made a remark.
  EXPECT_THAT(error_of_rows(with("# 1048576 262144" + rest)), HasSubstr("found none"));
}

TEST(NcclTests, a_call_that_failed_is_refused) {
  for (const char* failure : {"node-a: Test NCCL failure common.cu:961 'unhandled system error'\n",
                              " .. node-a pid 1: Test failure common.cu:844\n"}) {
    EXPECT_THAT(error_of_rows(log_of(rank(0) + rank(1), kRow, failure)),
                AllOf(HasSubstr("f: line 6: Test "), HasSubstr("expected a run that ended well")));
  }
}

TEST(NcclTests, rows_that_are_missing_at_the_end_of_a_run_are_a_doubt) {
  const Cluster cluster{
      .name = "c",
      .levels = {{.name = "l", .kind = LevelKind::switched, .sizes = {8}, .gb_per_s = 400}}};
  const auto heading = [](const char* sizes) {
    return std::string("# nThread 1 nGpus 2 minBytes 1048576 ") + sizes + " warmup iters: 5\n";
  };
  const auto of = [&](const std::string& text) { return doubts(cluster, rows_of(text)); };
  const auto cut = ElementsAre(AllOf(HasSubstr("f: line 2: all_reduce of 1048576 bytes on 2 GPUs"),
                                     HasSubstr("a run of up to 4194304 bytes")));
  EXPECT_THAT(of(heading("maxBytes 4194304 step: 4(factor)") + kRow), cut);
  EXPECT_THAT(of(heading("maxBytes 4194304 step: 1048576(bytes)") + kRow), cut);
  EXPECT_THAT(of(heading("maxBytes 4194304 step: 4(factor)") + kRow + " 4194304  "), cut);
  for (const char* sizes :
       {"maxBytes 1048576 step: 4(factor)", "maxBytes 4194303 step: 4(factor)",
        "maxBytes 1048576 step: 1048576(bytes)", "maxBytes x step: y", "maxBytes 4194304"}) {
    EXPECT_THAT(of(heading(sizes) + kRow), ElementsAre()) << sizes;
  }
  // The first of two runs in a log.
  EXPECT_THAT(of(heading("maxBytes 4194304 step: 4(factor)") + kRow +
                 "# nThread 1 nGpus 4 minBytes 1048576 maxBytes 1048576 step: 4(factor)\n" +
                 " 1048576 262144 float sum -1 50 20.97 31.46 0 50 20.97 31.46 0\n"),
              cut);
  EXPECT_THAT(of(heading("maxBytes 4194304 step: 4(factor)") +
                 "# Reducing maxBytes to 2097152 due to memory limitation\n" + kRow),
              ElementsAre());
}

TEST(NcclTests, counts_of_gpus_that_cannot_be_are_refused) {
  for (const char* counts : {"nThread 1e300 nGpus 8", "nThread 1 nGpus x", "nThread -1 nGpus 8",
                             "nThread 3 nGpus 1431655768", "nThread 65536 nGpus 65536"}) {
    EXPECT_THAT(error_of_rows(std::string("# ") + counts + "\n" + kRow),
                AllOf(HasSubstr("f: line 1: n"), HasSubstr("expected a")))
        << counts;
  }
}

TEST(NcclTests, prefixes_of_launchers_are_passed_over) {
  const std::string plain = log_of(rank(0) + rank(1), kRow);
  for (const char* prefix : {"0: ", "[1,0]<stdout>:", "worker-0 | ", "2026-01-02T03:04:05.6Z ",
                             "[2026-01-02 03:04:05] node7: ", "(pod=a) "}) {
    std::string prefixed;
    std::istringstream lines(plain);
    for (std::string line; std::getline(lines, line);) prefixed += prefix + line + "\n";
    EXPECT_EQ(rows_of(prefixed), rows_of(plain)) << prefix;
  }
}

TEST(NcclTests, a_program_of_another_operation_is_refused) {
  EXPECT_THAT(error_of_rows("+ ./build/broadcast_perf -g 8\n" + log_of(rank(0) + rank(1), kRow)),
              HasSubstr("broadcast_perf: expected a test of all_reduce"));
}

/// The fields that src/util.cu of nccl-tests writes.
TEST(NcclTests, their_json) {
  const auto document = [](const char* wrong) {
    return std::string(R"({"version": 1, "args": ["/opt/all_gather_perf", "-J", "x"],
      "config": {"nthreads": 1, "ngpus": 1, "devices": [{"rank": 0, "group": 0},
      {"rank": 1, "group": 0}]}, "results": [{"size": 1024, "count": 128, "type": "float",
      "out_of_place": {"time": 20.5, "alg_bw": 0.05, "bus_bw": 0.02, "nwrong": )") +
           wrong + R"(}, "in_place": {"time": 19.0}}], "out_of_bounds": {"count": 0}})";
  };
  EXPECT_THAT(rows_of(document("0.0")),
              ElementsAre(MeasuredRow{Operation::all_gather, 2, 1024, 20.5}));
  EXPECT_THAT(error_of_rows(document("2.0")),
              HasSubstr("results[0].out_of_place.nwrong: expected 0"));
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = document("0.0");
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_THAT(error_of_rows(changed("19.0", R"(19.0, "nwrong": 5.0)")),
              HasSubstr("results[0].in_place.nwrong: expected 0"));
  EXPECT_EQ(rows_of(changed("19.0", R"(19.0, "nwrong": null)")).size(), 1U);
  EXPECT_THAT(error_of_rows(changed("20.5", R"(20.5, "time": 30.5)")),
              HasSubstr("results[0].out_of_place.time: is there twice"));
  for (const char* okay : {R"("false")", "false"}) {
    EXPECT_THAT(error_of_rows(changed(R"("count": 0)", std::string(R"("okay": )") + okay)),
                HasSubstr("out_of_bounds.okay: expected true"));
  }
  EXPECT_EQ(rows_of(changed(R"("count": 0)", R"("count": 0, "okay": "true")")).size(), 1U);
}

TEST(NcclTests, rows_that_are_missing_at_the_end_of_their_json_are_a_doubt) {
  const auto run_to = [](const std::string& sizes) {
    return rows_of(R"({"args": ["all_reduce_perf"], "config": {"nthreads": 1, "ngpus": 2, )" +
                   sizes + R"("devices": [{"rank": 0}, {"rank": 1}]}, "results": [{"size": 1048576,
                     "out_of_place": {"time": 50.0, "alg_bw": 20.97, "bus_bw": 20.97}}]})")
        .front()
        .run_to;
  };
  EXPECT_EQ(run_to(R"("maximum_bytes": 4194304, "step_factor": 4, )"), 4194304);
  EXPECT_EQ(run_to(R"("maximum_bytes": 4194304, "step_bytes": 1048576, )"), 4194304);
  EXPECT_EQ(run_to(R"("maximum_bytes": 4194303, "step_factor": 4, )"), 0);
  EXPECT_EQ(run_to(""), 0);
}

TEST(RcclTests, columns_of_in_place_and_wrong_have_several_names) {
  for (const std::string name : {"inPlace", "in_place", "in-place", "In_Place"}) {
    const auto rows =
        rows_of("op,gpus,bytes,us," + name + "\nall_reduce,8,1024,9,0\nall_reduce,8,1024,5,1\n");
    EXPECT_THAT(rows, ElementsAre(MeasuredRow{Operation::all_reduce, 8, 1024, 9})) << name;
  }
  for (const std::string name : {"#wrong", "wrong", "nwrong", "nWrong"}) {
    EXPECT_THAT(error_of_rows("op,gpus,bytes,us," + name + "\nall_reduce,8,1024,9,3\n"),
                HasSubstr("#wrong is 3"))
        << name;
  }
}

TEST(RcclTests, later_objects_of_a_list_may_have_more_fields) {
  const auto second = [](const std::string& field) {
    return R"([{"op": "all_reduce", "gpus": 8, "bytes": 1024, "us": 9},
               {"op": "all_reduce", "gpus": 8, "bytes": 2048, "us": 9, )" +
           field + "}]";
  };
  EXPECT_THAT(error_of_rows(second(R"("wrong": 5)")), HasSubstr("[1]: #wrong is 5"));
  EXPECT_THAT(error_of_rows(second(R"("nwrong": 5)")), HasSubstr("[1]: #wrong is 5"));
  EXPECT_EQ(rows_of(second(R"("wrong": 0)")).size(), 2U);
  // The first object does not say whether its time is in place.
  EXPECT_THAT(error_of_rows(second(R"("inPlace": 1)")), HasSubstr("[0]: inPlace = ''"));
}

TEST(RcclTests, their_csv_and_json) {
  const auto csv = rows_of(file("calibrate-rccl-tests.csv"));
  ASSERT_EQ(csv.size(), 11U);
  EXPECT_EQ(csv.back(), (MeasuredRow{Operation::all_reduce, 8, 1073741824, 5239.578311111111}));
  const std::string begin = R"([{"numCycle":0, "name":"AllReduce", "nodes":1, "ranks":4,
      "ranksPerNode":4, "gpusPerRank":2, "size":1024, "type":"float", "redop":"sum", )";
  EXPECT_THAT(rows_of(begin + R"("inPlace":0, "time":9.5, "algBw":1, "busBw":1, "wrong":"0"}])"),
              ElementsAre(MeasuredRow{Operation::all_reduce, 8, 1024, 9.5}));
  EXPECT_THAT(
      error_of_rows(begin + R"("inPlace":0, "time":9.5, "algBw":1, "busBw":1, "wrong":"7"}])"),
      HasSubstr("f: [0]: #wrong is 7"));
}

TEST(RcclTests, in_place_rows_are_known_by_several_words) {
  const auto text = [](const std::string& in_place, const std::string& wrong = "0") {
    return "name,gpus,size,inPlace,time,#wrong\nAllReduce,8,1024," + in_place + ",9,0\n" +
           "AllReduce,8,2048,0,10," + wrong + "\n";
  };
  for (const char* in_place : {"1", "true", "True", "yes"}) {
    EXPECT_EQ(rows_of(text(in_place)).size(), 1U) << in_place;
  }
  for (const char* out_of_place : {"0", "false", "no"}) {
    EXPECT_EQ(rows_of(text(out_of_place)).size(), 2U) << out_of_place;
  }
  for (const char* odd : {"2", "maybe", "-1"}) {
    EXPECT_THAT(error_of_rows(text(odd)), HasSubstr(std::string("f: line 2: inPlace = '") + odd));
  }
  for (const char* wrong : {"true", "-", "nan", "0x10", "3"}) {
    EXPECT_THAT(error_of_rows(text("0", wrong)),
                HasSubstr(std::string("f: line 3: #wrong is ") + wrong));
  }
  for (const char* right : {"", "N/A", "0.0"}) EXPECT_EQ(rows_of(text("1", right)).size(), 1U);
}

TEST(MeasuredRows, quoted_csv_and_sizes_with_units) {
  const auto quoted = rows_of(file("calibrate-quoted.csv"));
  ASSERT_EQ(quoted.size(), 11U);
  EXPECT_EQ(quoted.back(), (MeasuredRow{Operation::all_reduce, 8, 1073741824, 5239.58}));
  EXPECT_THAT(rows_of("op,gpus,bytes,us\nsend,2,1GB,9\nsend,2,1GiB,10\n"),
              ElementsAre(MeasuredRow{Operation::send, 2, 1e9, 9},
                          MeasuredRow{Operation::send, 2, 1073741824, 10}));
}

TEST(MeasuredRows, doubts_name_the_row) {
  // Seven eighths of 1 GiB twice over links of 100 GB/s take 18790 us.
  const Cluster cluster{
      .name = "c",
      .levels = {{.name = "l", .kind = LevelKind::switched, .sizes = {8}, .gb_per_s = 100}}};
  EXPECT_THAT(doubts(cluster, rows_of("op,gpus,bytes,us\nall_reduce,8,1073741824,1\n")),
              ElementsAre(AllOf(HasSubstr("f: line 2: "), HasSubstr("more than the links of c"),
                                HasSubstr("18790"))));
  EXPECT_THAT(doubts(cluster, rows_of("op,gpus,bytes,us\nall_reduce,8,1073741824,18800\n")),
              ElementsAre());
  // A bus bandwidth of 1.5 times the algorithm's is that of 4 GPUs.
  EXPECT_THAT(doubts(cluster, rows_of("op,gpus,bytes,us,algbw,busbw\nall_reduce,8,2000000000,"
                                      "100000,20,30\nall_reduce,8,4000000000,200000,20,35\n")),
              ElementsAre(AllOf(HasSubstr("f: line 2: "), HasSubstr("1.500"), HasSubstr("1.750"))));
}

TEST(NcclTests, a_time_that_is_not_bytes_over_bandwidth_is_a_doubt) {
  const Cluster cluster{
      .name = "c",
      .levels = {{.name = "l", .kind = LevelKind::switched, .sizes = {8}, .gb_per_s = 400}}};
  // 1 MiB in 33.21 us are 31.57 GB/s, in 40.21 us 26.08. 1 KiB in 11.13 us is 0.09, rounded.
  const auto doubt = [&](const std::string& row) {
    return doubts(cluster, rows_of("# nThread 1 nGpus 8\n" + row + " 0 9 9 9 0\n"));
  };
  EXPECT_THAT(doubt("1048576 262144 float sum -1 33.21 31.57 55.25"), ElementsAre());
  EXPECT_THAT(doubt("1048576 262144 float sum -1 40.21 31.57 55.25"),
              ElementsAre(AllOf(HasSubstr("line 2"), HasSubstr("26.08"), HasSubstr("31.57"))));
  EXPECT_THAT(doubt("1048576 262144 float sum -1 33.21 32.57 57.00"),
              ElementsAre(AllOf(HasSubstr("line 2"), HasSubstr("31.57"), HasSubstr("32.57"))));
  EXPECT_THAT(doubt("1024 256 float sum -1 11.13 0.09 0.16"), ElementsAre());
  // A table of rccl-tests whose second row has the time of the first one.
  EXPECT_THAT(doubts(cluster, rows_of("op,gpus,bytes,us,algbw,busbw\n"
                                      "all_reduce,8,1048576,33.21,31.57,55.25\n"
                                      "all_reduce,8,2097152,33.21,31.57,55.25\n")),
              ElementsAre(AllOf(HasSubstr("line 3"), HasSubstr("63.15"))));
}

TEST(NcclTests, gpus_of_another_model_are_a_doubt) {
  const auto doubt = [](const std::string& gpu, const std::string& cluster) {
    const std::string rank = " Group 0 Pid 1 on host device 0 [0000:0a:00] ";
    const auto measured = rows_of("# nThread 1 nGpus 1\n#  Rank  0" + rank + gpu + "\n#  Rank  1" +
                                  rank + gpu + "\n 1024 256 float sum -1 90.1 0 0 0 90 1 1 0\n");
    const Cluster asked{
        .name = "c",
        .gpu = cluster,
        .levels = {{.name = "l", .kind = LevelKind::switched, .sizes = {8}, .gb_per_s = 100}}};
    return doubts(asked, measured);
  };
  EXPECT_THAT(doubt("NVIDIA A100-SXM4-80GB", "H100"),
              ElementsAre(AllOf(HasSubstr("line 4"), HasSubstr("'NVIDIA A100-SXM4-80GB'"),
                                HasSubstr("c has H100"))));
  EXPECT_THAT(doubt("NVIDIA GH200 480GB", "H200"), ElementsAre(HasSubstr("c has H200")));
  EXPECT_THAT(doubt("NVIDIA A100-SXM4-80GB", "A100"), ElementsAre());
  EXPECT_THAT(doubt("NVIDIA H100 80GB HBM3", "H100"), ElementsAre());
  EXPECT_THAT(doubt("NVIDIA H100 80GB HBM3", ""), ElementsAre());
}

TEST(NcclTests, bad_output_is_named) {
  EXPECT_THAT(error_of_rows("# nThread 1 nGpus 1\n"), HasSubstr("expected rows of nccl-tests"));
  EXPECT_THAT(error_of_rows("# nThread 1 nGpus 8\n 1024 256 float sum -1 0.00 0 0 0 5 1 1 0\n"),
              HasSubstr("line 2: time = '0.00'"));
  EXPECT_THAT(error_of_rows("# nThread 1 nGpus 1\n 1024 256 float sum -1 9.1 0 0 0 5 1 1 0\n"),
              HasSubstr("line 2: expected lines '# Rank"));
}

}  // namespace
}  // namespace overlaptune::cluster
