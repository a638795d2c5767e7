#include "tuner/problem_file.hpp"

#include <map>

#include <fmt/format.h>

#include "tuner/text_file.hpp"

namespace overlaptune {
namespace {

constexpr std::string_view kHeader = "op,m,n,k,dtype,ranks";
constexpr std::size_t kFields = 6;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(trimmed(text.substr(begin, end - begin)));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

Expected<Problem> parse_line(std::string_view line) {
  const auto fields = split(line, ',');
  if (fields.size() != kFields) {
    return bad_input(fmt::format("{} fields: expected {} ({})", fields.size(), kFields, kHeader));
  }
  return parse_problem(fmt::format("{}:{},{},{}:{}:{}", fields[0], fields[1], fields[2], fields[3],
                                   fields[4], fields[5]));
}

}  // namespace

Expected<std::vector<Problem>> parse_problems(std::string_view csv, std::string_view name) {
  const auto fail = [&](std::size_t line, std::string_view message) {
    return bad_input(fmt::format("{}: line {}: {}", name, line, message));
  };
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (csv.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    csv.remove_prefix(kByteOrderMark.size());
  }
  std::vector<Problem> problems;
  std::map<Problem, std::size_t> seen;  // each problem with its line
  bool header = false;
  std::size_t number = 0;
  for (const std::string_view line : split(csv, '\n')) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    if (!header) {
      if (line != kHeader) return fail(number, fmt::format("expected the header {}", kHeader));
      header = true;
      continue;
    }
    const auto problem = parse_line(line);
    if (!problem) return fail(number, problem.error().message);
    const auto [earlier, is_new] = seen.emplace(*problem, number);
    if (!is_new) {
      return fail(number,
                  fmt::format("the problem of line {} again: expected each once", earlier->second));
    }
    problems.push_back(*problem);
  }
  if (problems.empty()) {
    return bad_input(fmt::format("{}: no problem: expected the header {} and one line a problem",
                                 name, kHeader));
  }
  return problems;
}

Expected<std::vector<Problem>> read_problems(const std::filesystem::path& file) {
  const auto text = read_text_file(file, kMostProblemFileBytes);
  if (!text) return error_of(text);
  return parse_problems(*text, file.string());
}

}  // namespace overlaptune
