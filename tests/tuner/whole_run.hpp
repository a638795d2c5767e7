#pragma once
// Whole tuning runs on a simulated machine that counts: what it is asked, and how it may be
// changed.

#include <algorithm>
#include <filesystem>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/tuner/counting_machine.hpp"
#include "tuner/tuner.hpp"

namespace overlaptune {

inline const Problem kReduce{Op::gemm_all_reduce, 1024, 2048, 1024, Elements::bf16, 8};
/// A problem that is worth overlapping.
inline const Problem kTunedProblem{Op::gemm_all_reduce, 4096, 8192, 3584, Elements::bf16, 8};
/// Two that are not: k has too few steps for tiles that push.
inline const Problem kSmallGather{Op::all_gather_gemm, 512, 2048, 128, Elements::bf16, 8};
inline const Problem kGather{Op::all_gather_gemm, 1024, 4096, 128, Elements::bf16, 8};

inline bool go_on(std::size_t, std::size_t, std::string_view) {
  return true;
}

inline void scale(RunResult& result, double factor) {
  for (auto& times : result.rank_times) {
    for (Microseconds& time : times) time *= factor;
  }
}

/// Changes the results of all configs but `sequential`, the first one.
template <class Change>
void change_candidates(Expected<std::vector<RunResult>>& results, const Change& change) {
  std::for_each(results->begin() + 1, results->end(), change);
}

class TunerTest : public testing::Test {
 protected:
  /// Probing takes seconds: it is done once, and each test starts from a copy.
  static void SetUpTestSuite() {
    folder_ = std::filesystem::temp_directory_path() /
              ("overlaptune-tuner-test-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    CountingMachine machine;
    Store store(folder_ / "probed.db", Access::create);
    const std::vector<int> ranks{8};
    const auto plan = probe_plan(machine.platform(), machine.transports(), ranks);
    value_or_throw(run_probes(machine, store, plan, {}, false, go_on));
    ASSERT_EQ(machine.probes, static_cast<int>(plan.size()));
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder_); }

  void SetUp() override {
    std::filesystem::copy_file(folder_ / "probed.db", file(),
                               std::filesystem::copy_options::overwrite_existing);
  }
  void TearDown() override {
    for (const char* suffix : {"", "-wal", "-shm"})
      std::filesystem::remove(file().string() + suffix);
  }
  [[nodiscard]] static std::filesystem::path file() { return folder_ / "tuned.db"; }

  static TuneOptions options() {
    TuneOptions options{.top_k = 4, .explore = 4};
    options.provenance.seed = 1;
    return options;
  }

  inline static std::filesystem::path folder_;
};

}  // namespace overlaptune
