#pragma once
// Rows of a reference table, by column name.

#include <map>
#include <string>
#include <vector>

#include "core/base/csv.hpp"
#include "core/base/text_file.hpp"

namespace overlaptune::test {

using Row = std::map<std::string, std::string>;

inline std::vector<Row> read_csv(const std::string& name) {
  const std::string file = std::string(OVERLAPTUNE_TEST_DATA) + "/reference/" + name;
  std::vector<std::string> columns;
  std::vector<Row> rows;
  const auto read = overlaptune::read_csv(value_or_throw(read_text_file(file)), file,
                                          [&](const CsvRow& line) -> Expected<void> {
                                            if (columns.empty()) {
                                              columns = line.cells;
                                              return {};
                                            }
                                            Row& row = rows.emplace_back();
                                            for (std::size_t i = 0; i < columns.size(); ++i)
                                              row[columns[i]] = line.cells.at(i);
                                            return {};
                                          });
  if (!read) throw Failure(read.error());
  return rows;
}

}  // namespace overlaptune::test
