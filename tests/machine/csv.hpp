#pragma once
// Rows of a reference table, by column name.

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace overlaptune::test {

using Row = std::map<std::string, std::string>;

inline std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> parts;
  std::istringstream stream(line);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

inline std::vector<Row> read_csv(const std::string& name) {
  std::ifstream file(std::string(OVERLAPTUNE_TEST_DATA) + "/reference/" + name);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> columns = split(line);
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> values = split(line);
    Row row;
    for (std::size_t i = 0; i < values.size(); ++i) row[columns[i]] = values[i];
    rows.push_back(row);
  }
  return rows;
}

}  // namespace overlaptune::test
