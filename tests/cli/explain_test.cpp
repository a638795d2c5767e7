// The terms that `query --explain` prints add up.

#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/cli/tuned.hpp"

namespace overlaptune {
namespace {

class Explain : public tool::Tuned {};

/// The cells of the rows of a Markdown table, by the heads of its columns. `head` is in the first.
std::vector<std::map<std::string, std::string>> table_rows(const std::string& text,
                                                           const std::string& head) {
  const auto cells = [](const std::string& line) {
    std::vector<std::string> list;
    std::istringstream in(line.substr(1));
    for (std::string cell; std::getline(in, cell, '|');) {
      const auto begin = cell.find_first_not_of(' ');
      list.push_back(
          begin == cell.npos ? "" : cell.substr(begin, cell.find_last_not_of(' ') - begin + 1));
    }
    return list;
  };
  std::istringstream in(text.substr(text.find("| " + head)));
  std::string line;
  std::getline(in, line);
  const auto heads = cells(line);
  std::getline(in, line);  // the rule
  std::vector<std::map<std::string, std::string>> rows;
  while (std::getline(in, line) && line.starts_with('|')) {
    const auto values = cells(line);
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < heads.size(); ++i) row[heads[i]] = values.at(i);
  }
  return rows;
}

/// The times in a sentence: "+12.6 us: GEMM alone -16.1 us, …".
std::vector<double> times_in(const std::string& sentence) {
  static const std::regex time("([+-][0-9.]+) us");
  std::vector<double> list;
  for (std::sregex_iterator it(sentence.begin(), sentence.end(), time), end; it != end; ++it) {
    list.push_back(std::stod((*it)[1]));
  }
  return list;
}

TEST_F(Explain, what_is_said_against_the_best_adds_up) {
  constexpr double kRounded = 0.05;  // of a printed time; a difference of two is off by twice that
  std::size_t compared = 0;
  const char* const terms[] = {"GEMM alone us", "exposed us", "beside us", "learned us"};
  for (const std::string problem :
       {"gemm_all_reduce:4k,4k,1k:bf16:4", "gemm_all_reduce:512,4k,1k:bf16:4",
        "gemm_all_reduce:16k,8k,4k:bf16:4", "gemm_reduce_scatter:4k,4k,1k:bf16:4",
        "all_gather_gemm:2k,4k,4k:bf16:4", "gemm_all_to_all:8k,2k,2k:bf16:4",
        "all_to_all_gemm:8k,2k,2k:bf16:4"}) {
    const tool::Outcome outcome =
        tool::run(*folder, "query --explain --db f.db --problem " + problem);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto rows = table_rows(outcome.out, "strategy");
    ASSERT_FALSE(rows.empty()) << problem;
    compared += rows.size() - 1;
    const auto value = [&](std::size_t row, const char* column) {
      return std::stod(rows[row].at(column));
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
      SCOPED_TRACE(problem + ": " + rows[i].at("config"));
      double sum = 0;
      for (const char* term : terms) sum += value(i, term);
      EXPECT_NEAR(sum, value(i, "predicted us"), (std::size(terms) + 1) * kRounded + 1e-9);
      if (i == 0) continue;
      const auto said = times_in(rows[i].at("against the best"));
      ASSERT_EQ(said.size(), 1 + std::size(terms));
      EXPECT_NEAR(said[0], value(i, "predicted us") - value(0, "predicted us"), 3 * kRounded);
      for (std::size_t t = 0; t < std::size(terms); ++t) {
        // One term is what is left of the others, so it has their rounding, too.
        EXPECT_NEAR(said[t + 1], value(i, terms[t]) - value(0, terms[t]), 6 * kRounded) << terms[t];
      }
      EXPECT_NEAR(said[0], said[1] + said[2] + said[3] + said[4], 1e-6);
    }
  }
  EXPECT_GE(compared, 10U);
}

}  // namespace
}  // namespace overlaptune
