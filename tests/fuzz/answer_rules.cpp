#include "answer_rules.hpp"

#include <cmath>
#include <cstring>
#include <numeric>
#include <string>

#include "require.hpp"

namespace overlaptune::fuzz {
namespace {

constexpr const char* kOps[] = {"gemm_all_reduce", "gemm_reduce_scatter", "all_gather_gemm",
                                "gemm_all_to_all"};
constexpr const char* kDtypes[] = {"bf16", "fp16"};
constexpr const char* kLaunches[] = {"graph", "eager"};
constexpr const char* kStrategies[] = {"sequential", "chunked", "signaled"};
constexpr const char* kTransports[] = {"ring", "symmetric", "copy_engine", "symmetric_then_ring",
                                       "peer_access"};

bool positive(double time) {
  return std::isfinite(time) && time > 0;
}

std::int64_t tiles(const ovt_problem& problem, const ovt_answer& answer) {
  const std::int64_t blocks = problem.op == OVT_GEMM_ALL_REDUCE ? 1 : problem.ranks;
  const auto pieces = [](std::int64_t whole, std::int64_t piece) {
    return whole / piece + (whole % piece != 0 ? 1 : 0);
  };
  return blocks * pieces(problem.m / blocks, answer.block_m) * pieces(problem.n, answer.block_n);
}

/// Whether a transport carries the collective; an answer that cannot run is wrong.
bool carries(ovt_transport transport, ovt_op op) {
  switch (transport) {
    case OVT_TRANSPORT_RING:
      return true;
    case OVT_TRANSPORT_COPY_ENGINE:
      return op == OVT_GEMM_ALL_TO_ALL;
    case OVT_TRANSPORT_PEER_ACCESS:
      return op != OVT_ALL_GATHER_GEMM;
    default:
      return op != OVT_GEMM_ALL_TO_ALL;
  }
}

/// Fields that the strategy does not use are 0, and it has all that it uses.
void require_fields(const ovt_problem& problem, const ovt_answer& answer) {
  const bool by_nccl = answer.transport != OVT_TRANSPORT_COPY_ENGINE &&
                       answer.transport != OVT_TRANSPORT_PEER_ACCESS;
  if (answer.strategy == OVT_SIGNALED) {
    require(problem.op != OVT_ALL_GATHER_GEMM, "a GEMM before the collective");
    for (const auto value : {answer.block_m, answer.block_n, answer.block_k, answer.stages,
                             answer.cluster, answer.raster, answer.wave_group_count}) {
      require(value > 0, "fields of signaled");
    }
    require(answer.comm_ctas > 0 || by_nccl, "CTAs of transports that are not NCCL's");
  } else {
    for (const auto value : {answer.block_m, answer.block_n, answer.block_k, answer.stages,
                             answer.cluster, answer.raster, answer.wave_group_count, answer.wait}) {
      require(value == 0, "fields of signaled only");
    }
    require(answer.transport <= OVT_TRANSPORT_SYMMETRIC, "NCCL's collectives beside the library");
  }
  if (answer.strategy == OVT_CHUNKED) {
    require(answer.comm_ctas > 0, "CTAs of chunked");
  } else {
    require(answer.chunks == 1, "chunks of chunked only");
  }
}

void require_config(const ovt_problem& problem, const ovt_answer& answer) {
  require(answer.strategy >= OVT_SEQUENTIAL && answer.strategy <= OVT_SIGNALED, "strategy");
  require(answer.transport >= OVT_TRANSPORT_RING && answer.transport <= OVT_TRANSPORT_PEER_ACCESS,
          "transport");
  require(answer.wait == OVT_WAIT_DRIVER || answer.wait == OVT_WAIT_KERNEL, "wait");
  require(answer.wait == OVT_WAIT_DRIVER ||
              (answer.strategy == OVT_SIGNALED && answer.transport != OVT_TRANSPORT_COPY_ENGINE),
          "a kernel that can wait");
  require(answer.reserved == 0, "reserved");
  require(carries(answer.transport, problem.op), "a transport that carries the collective");
  require_fields(problem, answer);
  for (const auto value : {answer.block_m, answer.block_n, answer.block_k, answer.stages,
                           answer.cluster, answer.raster, answer.comm_ctas}) {
    require(value >= 0, "sizes of the config");
  }
  const std::int64_t block_rows =
      problem.op == OVT_GEMM_ALL_REDUCE ? problem.m : problem.m / problem.ranks;
  require(answer.chunks >= 1 && answer.chunks <= block_rows,
          "chunks that the rows can be cut into");
  require(answer.wave_group_count >= 0 && answer.wave_group_count <= OVT_MAX_WAVE_GROUPS,
          "wave_group_count");
  if (answer.strategy == OVT_SIGNALED) {
    std::int64_t sum = 0;
    for (int i = 0; i < answer.wave_group_count; ++i) {
      require(answer.wave_groups[i] > 0, "positive wave groups");
      require(!__builtin_add_overflow(sum, answer.wave_groups[i], &sum), "a sum of wave groups");
    }
    require(sum == tiles(problem, answer), "wave groups that make up the tiles");
  }
}

std::string text(sqlite3_stmt* row, int column) {
  const auto* data = sqlite3_column_text(row, column);
  return data == nullptr ? "" : static_cast<const char*>(static_cast<const void*>(data));
}

std::string groups(const ovt_answer& answer) {
  std::string list;
  for (int i = 0; i < answer.wave_group_count; ++i) {
    list += (i == 0 ? "" : ",") + std::to_string(answer.wave_groups[i]);
  }
  return list;
}

/// The line of the config, as databases have it since version 5.
std::string line(const ovt_answer& answer) {
  std::string line = kStrategies[answer.strategy];
  const auto add = [&](const char* name, const std::string& value) {
    line += std::string(" ") + name + "=" + value;
  };
  if (answer.block_m > 0) {
    add("tile", std::to_string(answer.block_m) + "x" + std::to_string(answer.block_n) + "x" +
                    std::to_string(answer.block_k));
    add("stages", std::to_string(answer.stages));
    add("cluster", std::to_string(answer.cluster));
    add("raster", std::to_string(answer.raster));
  }
  add("ctas", std::to_string(answer.comm_ctas));
  add("transport", kTransports[answer.transport]);
  if (answer.chunks > 1) add("chunks", std::to_string(answer.chunks));
  if (answer.wait == OVT_WAIT_KERNEL) add("wait", "kernel");
  if (answer.wave_group_count > 0) add("groups", groups(answer));
  return line;
}

/// Winners were rows of candidates in version 1, and a config was many columns before version 5.
const char* winners_sql(int version) {
  if (version >= 5) {
    return "SELECT op, m, n, k, dtype, ranks, launch, predicted_us, measured_median_us, "
           "sequential_us, config FROM winners";
  }
  if (version >= 2) {
    return "SELECT op, m, n, k, dtype, ranks, launch, predicted_us, measured_median_us, "
           "sequential_us, strategy, block_m, block_n, wave_groups, chunks FROM winners";
  }
  return "SELECT op, m, n, k, dtype, ranks, w.launch, predicted_us, measured_median_us, "
         "sequential_us, strategy, block_m, block_n, wave_groups, chunks FROM winners w "
         "JOIN problems p ON p.id = w.problem_id JOIN candidates c ON c.id = w.candidate_id";
}

bool has_config(sqlite3_stmt* row, int version, const ovt_answer& answer) {
  if (version >= 5) return text(row, 10) == line(answer);
  return text(row, 10) == kStrategies[answer.strategy] &&
         sqlite3_column_int64(row, 11) == answer.block_m &&
         sqlite3_column_int64(row, 12) == answer.block_n && text(row, 13) == groups(answer) &&
         sqlite3_column_int64(row, 14) == answer.chunks;
}

bool equal(sqlite3_stmt* row, int version, const ovt_problem& problem, ovt_launch launch,
           const ovt_answer& answer) {
  return text(row, 0) == kOps[problem.op] && sqlite3_column_int64(row, 1) == problem.m &&
         sqlite3_column_int64(row, 2) == problem.n && sqlite3_column_int64(row, 3) == problem.k &&
         text(row, 4) == kDtypes[problem.dtype] && sqlite3_column_int64(row, 5) == problem.ranks &&
         text(row, 6) == kLaunches[launch] &&
         sqlite3_column_double(row, 7) == answer.predicted_us &&
         sqlite3_column_double(row, 8) == answer.measured_us &&
         sqlite3_column_double(row, 9) == answer.baseline_us && has_config(row, version, answer);
}

int version_of(sqlite3* database) {
  sqlite3_stmt* statement = nullptr;
  int version = 0;
  if (sqlite3_prepare_v2(database, "PRAGMA user_version", -1, &statement, nullptr) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW) {
    version = sqlite3_column_int(statement, 0);
  }
  sqlite3_finalize(statement);
  return version;
}

}  // namespace

void require_sound(const ovt_problem& problem, const ovt_answer& answer) {
  require(answer.size == sizeof answer, "size");
  require(answer.source >= OVT_EXACT && answer.source <= OVT_BASELINE, "source");
  require(std::memchr(answer.reason, 0, sizeof answer.reason) != nullptr, "a reason that ends");
  require(answer.reason[0] != '\0', "a reason");
  require_config(problem, answer);
  const bool exact = answer.source == OVT_EXACT;
  require(exact ? positive(answer.measured_us) : std::isnan(answer.measured_us), "measured_us");
  const double predicted = answer.predicted_us;
  require(answer.source == OVT_BASELINE || (std::isfinite(predicted) && predicted >= 0),
          "predicted_us");
  require(positive(answer.baseline_us) || (!exact && std::isnan(answer.baseline_us)),
          "baseline_us");
  if (answer.source == OVT_BASELINE) {
    require(answer.strategy == OVT_SEQUENTIAL, "a baseline that is sequential");
  }
}

void require_stored(sqlite3* database, const ovt_problem& problem, ovt_launch launch,
                    const ovt_answer& answer) {
  sqlite3_stmt* statement = nullptr;
  const int version = version_of(database);
  if (sqlite3_prepare_v2(database, winners_sql(version), -1, &statement, nullptr) != SQLITE_OK) {
    return;
  }
  bool found = false;
  int code = SQLITE_ROW;
  while (!found && (code = sqlite3_step(statement)) == SQLITE_ROW) {
    found = equal(statement, version, problem, launch, answer);
  }
  sqlite3_finalize(statement);
  require(found || code != SQLITE_DONE, "an exact answer that is a row of the file");
}

}  // namespace overlaptune::fuzz
