// `export-nccl-tuner`, read back as NCCL's example tuner plugin reads it, and compared with the
// measurements.

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/store.hpp"
#include "tests/cli/tool.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;
using tool::Folder;

struct Row {
  std::string collective, algorithm, protocol;
  std::int64_t least = 0, most = 0;
  int channels = 0, nodes = 0, ranks = 0, pipe_ops = 0, registered = 0;
};

/// Lines that begin with # and empty ones do not count; ten fields each.
std::vector<Row> parse(const std::string& text) {
  std::vector<Row> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LT(line.size(), 255U) << "longer than the plugin's buffer";
    if (line.empty() || line.front() == '#') continue;
    std::istringstream in(line);
    std::vector<std::string> fields;
    for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
    EXPECT_EQ(fields.size(), 10U) << line;
    if (fields.size() != 10) continue;
    rows.push_back({.collective = fields[0],
                    .algorithm = fields[3],
                    .protocol = fields[4],
                    .least = std::stoll(fields[1]),
                    .most = std::stoll(fields[2]),
                    .channels = std::stoi(fields[5]),
                    .nodes = std::stoi(fields[6]),
                    .ranks = std::stoi(fields[7]),
                    .pipe_ops = std::stoi(fields[8]),
                    .registered = std::stoi(fields[9])});
  }
  return rows;
}

const std::map<Collective, std::string> kNames{{Collective::all_reduce, "allreduce"},
                                               {Collective::reduce_scatter, "reducescatter"},
                                               {Collective::all_gather, "allgather"}};

/// The rows that the plugin could take. It takes the first one that fits, so there must be exactly
/// one.
std::vector<Row> fitting(const std::vector<Row>& rows, const CollectiveProbe& probe) {
  std::vector<Row> found;
  for (const Row& row : rows) {
    if (row.collective == kNames.at(probe.collective) && row.ranks == probe.ranks &&
        row.least <= probe.bytes.count && probe.bytes.count <= row.most) {
      found.push_back(row);
    }
  }
  return found;
}

/// The shortest time with given CTAs.
double fastest_of(const std::map<int, double>& by_ctas) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [ctas, time] : by_ctas) {
    if (ctas > 0) least = std::min(least, time);
  }
  return least;
}

/// Checks each measured size of rings, and returns the number of sizes.
std::size_t check(const std::vector<Row>& rows, const std::vector<Measurement>& measurements,
                  std::int64_t from, int most_ctas) {
  std::map<CollectiveProbe, std::map<int, double>> times;  // by probe without CTAs, and CTAs
  std::map<std::pair<Collective, int>, std::set<int>> counts;
  for (const Measurement& measurement : measurements) {
    const auto* probe = std::get_if<CollectiveProbe>(&measurement.probe);
    if (probe == nullptr || !kNames.contains(probe->collective)) continue;
    if (probe->transport != Transport::ring || probe->bytes.count < from) continue;
    if (probe->comm_ctas > most_ctas) continue;
    CollectiveProbe key = *probe;
    key.comm_ctas = 0;
    times[key][probe->comm_ctas] = measurement.time.median.count();
    if (probe->comm_ctas > 0) counts[{key.collective, key.ranks}].insert(probe->comm_ctas);
  }
  for (const auto& [probe, by_ctas] : times) {
    // A size that takes too long with some CTAs is not probed with all.
    const auto& all = counts[{probe.collective, probe.ranks}];
    if (std::any_of(all.begin(), all.end(), [&](int ctas) { return !by_ctas.contains(ctas); })) {
      continue;
    }
    const auto found = fitting(rows, probe);
    const auto own_choice = by_ctas.find(0);
    const bool limited = most_ctas < std::numeric_limits<int>::max();
    if (!limited && own_choice != by_ctas.end() && fastest_of(by_ctas) > own_choice->second) {
      EXPECT_TRUE(found.empty()) << to_string(Probe(probe)) << ": NCCL's own choice is faster";
      continue;
    }
    EXPECT_EQ(found.size(), 1U) << to_string(Probe(probe));
    if (found.size() != 1 || !by_ctas.contains(found.front().channels)) {
      ADD_FAILURE() << to_string(Probe(probe)) << ": no such time";
      continue;
    }
    for (const auto& [ctas, time] : by_ctas) {
      if (ctas == 0) continue;
      EXPECT_LE(by_ctas.at(found.front().channels), time)
          << to_string(Probe(probe)) << ": " << ctas << " CTAs are faster";
    }
  }
  return static_cast<std::size_t>(std::count_if(times.begin(), times.end(), [](const auto& each) {
    return each.second.rbegin()->first > 0;
  }));
}

TEST(ExportNcclTuner, EachRowIsTheFastestMeasuredChoiceInItsRange) {
  const Folder folder;
  ASSERT_EQ(tool::run(folder, "probe --machine sim:rtx4090-pcie-x4 --db f.db").status, 0);
  const Store store(folder / "f.db", Access::read);
  const auto measurements = store.measurements(store.platforms().front().id);

  const auto printed = tool::run(folder, "export-nccl-tuner --db f.db --from 0");
  ASSERT_EQ(printed.status, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("\n# collective_type,min_bytes,max_bytes,algorithm,protocol,"
                                     "channels,nNodes,nRanks,numPipeOps,regBuff\n"));
  const auto rows = parse(printed.out);
  EXPECT_GT(rows.size(), kNames.size()) << "one choice for all sizes: nothing to tell apart";
  EXPECT_GT(check(rows, measurements, 0, std::numeric_limits<int>::max()), 30U);
  for (const Row& row : rows) {
    EXPECT_EQ(row.algorithm, "ring");
    EXPECT_EQ(row.protocol, "simple");
    EXPECT_GT(row.channels, 0);
    EXPECT_THAT((std::vector{row.nodes, row.pipe_ops, row.registered}), testing::Each(-1));
  }

  ASSERT_EQ(tool::run(folder,
                      "export-nccl-tuner --db f.db --protocol ll128 --from 4M --most-ctas 8 "
                      "--out rules.conf")
                .status,
            0);
  const auto limited = parse(tool::content(folder / "rules.conf"));
  EXPECT_GT(check(limited, measurements, 4 << 20, 8), 10U);
  for (const Row& row : limited) {
    EXPECT_EQ(row.protocol, "ll128");
    EXPECT_GE(row.least, 4 << 20);
    EXPECT_LE(row.channels, 8);
  }
  EXPECT_EQ(tool::json(folder, "export-nccl-tuner --db f.db --from 0")["rules"].size(),
            rows.size());

  EXPECT_THAT(tool::run(folder, "export-nccl-tuner --db f.db --from 1000G").err,
              HasSubstr("smaller --from"));
  EXPECT_THAT(tool::run(folder, "export-nccl-tuner --db f.db --protocol fast").err,
              HasSubstr("'fast': expected one of ll, ll128, simple"));
}

}  // namespace
}  // namespace overlaptune
