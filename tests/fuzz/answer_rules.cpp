#include "answer_rules.hpp"

#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "require.hpp"

namespace overlaptune::fuzz {
namespace {

constexpr const char* kOps[] = {"gemm_all_reduce", "gemm_reduce_scatter", "all_gather_gemm",
                                "gemm_all_to_all", "all_to_all_gemm"};
constexpr const char* kDtypes[] = {"bf16",
                                   "fp16",
                                   "e4m3_rows_bf16",
                                   "e4m3_rows_fp16",
                                   "e4m3_tensor_bf16",
                                   "e4m3_tensor_fp16",
                                   "e4m3_rows_bf16_exact",
                                   "e4m3_rows_fp16_exact",
                                   "e4m3_tensor_bf16_exact",
                                   "e4m3_tensor_fp16_exact"};
constexpr const char* kLaunches[] = {"graph", "eager"};
constexpr const char* kWinners =
    "SELECT op, m, n, k, dtype, ranks, launch, predicted_us, measured_median_us, sequential_us, "
    "config FROM winners";

/// The fields that the line of each strategy may have.
const std::map<std::string, std::set<std::string>> kFields{
    {"sequential", {"ctas", "transport"}},
    {"chunked", {"ctas", "transport", "chunks"}},
    {"signaled", {"tile", "stages", "cluster", "swizzle", "ctas", "transport", "wait", "groups"}},
    {"waiting",
     {"tile", "stages", "cluster", "swizzle", "ctas", "transport", "k_chunks", "groups"}},
    {"peer_store", {"tile", "stages", "cluster", "swizzle", "groups"}}};

/// The words of a config's line.
struct Line {
  std::string strategy{};
  std::map<std::string, std::string> fields{};

  explicit Line(const std::string& text) {
    std::istringstream words(text);
    words >> strategy;
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      require(equals != word.npos, "name=value");
      require(fields.emplace(word.substr(0, equals), word.substr(equals + 1)).second,
              "a field that stands once");
    }
  }
  [[nodiscard]] bool has(const std::string& name) const { return fields.count(name) > 0; }
  [[nodiscard]] std::string at(const std::string& name) const {
    const auto found = fields.find(name);
    return found == fields.end() ? "" : found->second;
  }
  /// The numbers of a field, which stand between other signs.
  [[nodiscard]] std::vector<std::int64_t> numbers(const std::string& name) const {
    std::string text = at(name);
    for (char& c : text) {
      if (c < '0' || c > '9') c = ' ';
    }
    std::istringstream list(text);
    std::vector<std::int64_t> found;
    for (std::int64_t number = 0; list >> number;) found.push_back(number);
    return found;
  }
  [[nodiscard]] std::int64_t number(const std::string& name, std::int64_t none) const {
    const auto found = numbers(name);
    require(!has(name) || found.size() == 1, "one number");
    return found.empty() ? none : found.front();
  }
};

bool positive(double time) {
  return std::isfinite(time) && time > 0;
}

std::int64_t tiles(const ovt_problem& problem, const std::vector<std::int64_t>& tile) {
  const std::int64_t blocks = problem.op == OVT_GEMM_ALL_REDUCE ? 1 : problem.ranks;
  const auto pieces = [](std::int64_t whole, std::int64_t piece) {
    return whole / piece + (whole % piece != 0 ? 1 : 0);
  };
  return blocks * pieces(problem.m / blocks, tile[0]) * pieces(problem.n, tile[1]);
}

/// Whether a transport carries the collective; an answer that cannot run is wrong.
bool carries(const std::string& transport, ovt_op op) {
  const bool is_all_to_all = op == OVT_GEMM_ALL_TO_ALL || op == OVT_ALL_TO_ALL_GEMM;
  if (transport == "copy_engine") return is_all_to_all || op == OVT_ALL_GATHER_GEMM;
  const bool is_symmetric = transport == "symmetric" || transport == "symmetric_then_ring";
  if (is_symmetric) return !is_all_to_all;
  return transport == "ring" || transport == "peer_access" || transport.empty();
}

/// The GEMM of these strategies is generated, and its tiles are in wave groups.
void require_tiles(const ovt_problem& problem, const Line& line) {
  require(problem.op != OVT_ALL_TO_ALL_GEMM, "a generated GEMM that has the op");
  require((line.strategy == "waiting") == (problem.op == OVT_ALL_GATHER_GEMM),
          "a GEMM on the right side of the collective");
  const auto tile = line.numbers("tile");
  require(tile.size() == 3, "a tile");
  for (const auto side : tile) require(side > 0, "sides of the tile");
  for (const char* name : {"stages", "cluster", "swizzle"}) {
    require(line.number(name, 0) > 0, "fields of a generated GEMM");
  }
  std::int64_t sum = 0;
  for (const std::int64_t group : line.numbers("groups")) {
    require(group > 0, "positive wave groups");
    require(!__builtin_add_overflow(sum, group, &sum), "a sum of wave groups");
  }
  require(sum == tiles(problem, tile), "wave groups that make up the tiles");
}

void require_config(const ovt_problem& problem, const ovt_answer& answer) {
  require(std::memchr(answer.config, 0, sizeof answer.config) != nullptr, "a line that ends");
  const Line line(answer.config);
  require(line.strategy == answer.strategy, "the strategy of the line");
  require(line.at("transport") == answer.transport, "the transport of the line");
  require(answer.reserved == 0, "reserved");
  const auto fields = kFields.find(line.strategy);
  require(fields != kFields.end(), "strategy");
  for (const auto& [name, value] : line.fields) {
    require(fields->second.count(name) > 0, "fields of the strategy only");
  }
  const std::string transport = line.at("transport");
  require(carries(transport, problem.op), "a transport that carries the collective");
  require(!line.has("wait") || (line.at("wait") == "kernel" && transport != "copy_engine"),
          "a kernel that can wait");
  const bool needs_ctas =
      line.strategy == "chunked" || (transport == "peer_access" && line.strategy != "waiting");
  require(line.number("ctas", 0) >= (needs_ctas ? 1 : 0), "CTAs");
  if (line.strategy == "waiting" && transport == "peer_access" && line.number("ctas", 0) == 0) {
    require(line.number("cluster", 0) == 1 && problem.ranks <= 8, "tiles that can push");
    require(std::cmp_equal(line.numbers("groups").size(), problem.ranks), "whole row blocks");
  }
  const std::int64_t block_rows =
      problem.op == OVT_GEMM_ALL_REDUCE ? problem.m : problem.m / problem.ranks;
  const std::int64_t chunks = line.number("chunks", 1);
  require(chunks >= 1 && chunks <= block_rows, "chunks that the rows can be cut into");
  if (fields->second.count("tile") > 0) require_tiles(problem, line);
}

std::string text(sqlite3_stmt* row, int column) {
  const auto* data = sqlite3_column_text(row, column);
  return data == nullptr ? "" : static_cast<const char*>(static_cast<const void*>(data));
}

bool equal(sqlite3_stmt* row, const ovt_problem& problem, ovt_launch launch,
           const ovt_answer& answer) {
  return text(row, 0) == kOps[problem.op] && sqlite3_column_int64(row, 1) == problem.m &&
         sqlite3_column_int64(row, 2) == problem.n && sqlite3_column_int64(row, 3) == problem.k &&
         text(row, 4) == kDtypes[problem.dtype] && sqlite3_column_int64(row, 5) == problem.ranks &&
         text(row, 6) == kLaunches[launch] &&
         sqlite3_column_double(row, 7) == answer.predicted_us &&
         sqlite3_column_double(row, 8) == answer.measured_us &&
         sqlite3_column_double(row, 9) == answer.baseline_us && text(row, 10) == answer.config;
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
    require(std::strcmp(answer.strategy, "sequential") == 0, "a baseline that is sequential");
  }
}

void require_stored(sqlite3* database, const ovt_problem& problem, ovt_launch launch,
                    const ovt_answer& answer) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, kWinners, -1, &statement, nullptr) != SQLITE_OK) {
    return;
  }
  bool found = false;
  int code = SQLITE_ROW;
  while (!found && (code = sqlite3_step(statement)) == SQLITE_ROW) {
    found = equal(statement, problem, launch, answer);
  }
  sqlite3_finalize(statement);
  require(found || code != SQLITE_DONE, "an exact answer that is a row of the file");
}

}  // namespace overlaptune::fuzz
