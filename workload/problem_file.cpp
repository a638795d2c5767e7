#include "workload/problem_file.hpp"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/csv.hpp"
#include "core/base/text_file.hpp"

namespace overlaptune {
namespace {

constexpr std::string_view kHeader = "op,m,n,k,dtype,ranks";
constexpr std::size_t kFields = 6;

Expected<Problem> problem_of(const std::vector<std::string>& cells) {
  if (cells.size() != kFields) {
    return bad_input(fmt::format("{} fields: expected {} ({})", cells.size(), kFields, kHeader));
  }
  return parse_problem(
      fmt::format("{}:{},{},{}:{}:{}", cells[0], cells[1], cells[2], cells[3], cells[4], cells[5]));
}

}  // namespace

Expected<std::vector<Problem>> parse_problems(std::string_view csv, std::string_view name) {
  std::vector<Problem> problems;
  std::map<Problem, std::size_t> seen;  // each problem with its line
  bool header = false;
  const auto read = read_csv(csv, name, [&](const CsvRow& row) -> Expected<void> {
    const auto fail = [&](std::string_view message) {
      return bad_input(fmt::format("{}: line {}: {}", name, row.line, message));
    };
    if (!header) {
      header = true;
      if (fmt::format("{}", fmt::join(row.cells, ",")) == kHeader) return {};
      return fail(fmt::format("expected the header {}", kHeader));
    }
    const auto problem = problem_of(row.cells);
    if (!problem) return fail(problem.error().message);
    const auto [earlier, is_new] = seen.emplace(*problem, row.line);
    if (!is_new) {
      return fail(fmt::format("the problem of line {} again: expected each once", earlier->second));
    }
    problems.push_back(*problem);
    return {};
  });
  if (!read) return error_of(read);
  if (problems.empty()) {
    return bad_input(fmt::format("{}: no problem: expected the header {} and one line a problem",
                                 name, kHeader));
  }
  return problems;
}

Expected<std::vector<Problem>> read_problems(const std::filesystem::path& file) {
  const auto text = read_text_file(file);
  if (!text) return error_of(text);
  return parse_problems(*text, file.string());
}

}  // namespace overlaptune
