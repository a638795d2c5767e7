#pragma once
// Tests on a database that a small run has filled.

#include <string>

#include <gtest/gtest.h>

#include "tests/cli/tool.hpp"

namespace overlaptune::tool {

inline const std::string kTune =
    "tune --machine sim:rtx4090-pcie-x4 --db f.db --top-k 3 --explore 4 "
    "--problem gemm_all_reduce:4k,4k,1k:bf16:4 --problem gemm_reduce_scatter:4k,4k,1k:bf16:4";

/// A problem that was tuned, in the database.
inline const std::string kKnown =
    " --db f.db --op gemm_all_reduce --m 4k --n 4k --k 1k --dtype bf16"
    " --ranks 4";

/// Copies the database, and what the run printed as JSON (tuned.json), into a folder.
void tune_once(const Folder& folder);

class Tuned : public testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  static inline Folder* folder = nullptr;
  static inline nlohmann::json* tuned = nullptr;
};

}  // namespace overlaptune::tool
