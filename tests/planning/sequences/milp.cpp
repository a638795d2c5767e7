#include "tests/planning/sequences/milp.hpp"

#include <Cbc_C_Interface.h>
#include <algorithm>
#include <string>

namespace overlaptune {
namespace {

/// A group that a plan may have.
struct Place {
  int micro_batch = 0;
  int degree = 1;
  int open = 0;            ///< column: whether the group is there
  int first_sequence = 0;  ///< column of the first sequence; the others follow
};

/// Builds the program column by column and row by row.
class Program {
 public:
  Program() : model_(Cbc_newModel()) { Cbc_setLogLevel(model_, 0); }
  ~Program() { Cbc_deleteModel(model_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  int binary() {
    Cbc_addCol(model_, "", 0, 1, 0, 1, 0, nullptr, nullptr);
    return columns_++;
  }
  int time(double cost) {
    Cbc_addCol(model_, "", 0, 1e30, cost, 0, 0, nullptr, nullptr);
    return columns_++;
  }
  void row(const std::vector<int>& columns, const std::vector<double>& factors, char sense,
           double side) {
    Cbc_addRow(model_, "", static_cast<int>(columns.size()), columns.data(), factors.data(), sense,
               side);
  }
  std::optional<MilpResult> solve(double seconds) {
    Cbc_setMaximumSeconds(model_, seconds);
    Cbc_setAllowableFractionGap(model_, 1e-4);
    Cbc_solve(model_);
    if (Cbc_bestSolution(model_) == nullptr) return std::nullopt;
    return MilpResult{Cbc_getObjValue(model_), Cbc_isProvenOptimal(model_) != 0};
  }

 private:
  Cbc_Model* model_;
  int columns_ = 0;
};

}  // namespace

std::optional<MilpResult> solve_milp(const Costs& costs, const Gpus& gpus,
                                     const std::vector<std::int64_t>& lengths, int micro_batches,
                                     double seconds) {
  const auto count = static_cast<int>(lengths.size());
  constexpr double kMs = 1e-3;  // milliseconds keep the factors near 1
  Program program;
  std::vector<Place> places;
  std::vector<int> times;
  for (int part = 0; part < micro_batches; ++part) {
    times.push_back(program.time(1));
    for (int degree = 1; degree <= gpus.count; degree *= 2) {
      for (int i = 0; i < std::min(gpus.count / degree, count); ++i) {
        Place place{.micro_batch = part, .degree = degree, .open = program.binary()};
        for (int s = 0; s < count; ++s) {
          const int column = program.binary();
          if (s == 0) place.first_sequence = column;
        }
        // Groups of one degree are alike: the first ones are used first.
        if (i > 0) program.row({places.back().open, place.open}, {1, -1}, 'G', 0);
        places.push_back(place);
      }
    }
  }
  for (const Place& place : places) {
    std::vector<int> columns{times[static_cast<std::size_t>(place.micro_batch)], place.open};
    std::vector<double> work{-1, costs.fixed_us(place.degree) * kMs};
    std::vector<double> memory{(costs.state_bytes() - gpus.memory_bytes) / gpus.memory_bytes};
    for (int s = 0; s < count; ++s) {
      const std::int64_t length = lengths[static_cast<std::size_t>(s)];
      const auto tokens = static_cast<double>(length);
      const int column = place.first_sequence + s;
      columns.push_back(column);
      work.push_back((costs.compute_us(length) / place.degree +
                      costs.exchange_us_per_token(place.degree) * tokens) *
                     kMs);
      memory.push_back(costs.token_bytes() * tokens / place.degree / gpus.memory_bytes);
      program.row({column, place.open}, {1, -1}, 'L', 0);
    }
    program.row(columns, work, 'L', 0);
    columns.erase(columns.begin());
    program.row(columns, memory, 'L', 0);
  }
  for (int part = 0; part < micro_batches; ++part) {
    std::vector<int> columns;
    std::vector<double> degrees;
    for (const Place& place : places) {
      if (place.micro_batch != part) continue;
      columns.push_back(place.open);
      degrees.push_back(place.degree);
    }
    program.row(columns, degrees, 'L', gpus.count);
    // Micro-batches are alike, too: the slowest one first.
    if (part > 0) {
      const auto at = static_cast<std::size_t>(part);
      program.row({times[at - 1], times[at]}, {1, -1}, 'G', 0);
    }
  }
  for (int s = 0; s < count; ++s) {
    std::vector<int> columns;
    for (const Place& place : places) columns.push_back(place.first_sequence + s);
    program.row(columns, std::vector<double>(columns.size(), 1), 'E', 1);
  }
  auto result = program.solve(seconds);
  if (result) result->time_us /= kMs;
  return result;
}

}  // namespace overlaptune
