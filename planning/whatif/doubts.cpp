// Measured rows that cannot be what they are taken for.

#include <cctype>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "planning/whatif/row_forms.hpp"

namespace overlaptune::cluster {
namespace {

constexpr double kRounding = 0.02;  // of printed bandwidths, and of a time
constexpr double kPrinted = 0.01;   // of a time of two digits or more

/// The cluster with no time but that of bytes at the full rate of its links.
Cluster of_links_alone(Cluster cluster) {
  cluster.launch_us = 0;
  for (Level& level : cluster.levels) {
    level.latency_us = 0;
    level.efficiency = {{1, 1}};
    level.protocols = {{"links", 0, 0, 1}};
    if (level.multicast.share > 0) level.multicast = {.share = 1, .latency_us = 0};
  }
  return cluster;
}

/// The first row of a kind of doubt, and how many there are.
class Doubt {
 public:
  void add(const std::string& message) {
    if (count_++ == 0) first_ = message;
  }
  void report(std::vector<std::string>& list) const {
    if (count_ == 1) list.push_back(first_);
    if (count_ > 1) list.push_back(fmt::format("{} (and {} rows more)", first_, count_ - 1));
  }

 private:
  std::string first_{};
  int count_ = 0;
};

bool is_letter_or_digit(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

/// Whether a word stands in a name by itself: H200 is none of "NVIDIA GH200".
bool has_word(std::string_view name, std::string_view word) {
  for (auto at = name.find(word); at != name.npos; at = name.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_letter_or_digit(name[at - 1])) &&
        (end == name.size() || !is_letter_or_digit(name[end]))) {
      return true;
    }
  }
  return false;
}

std::string what(const MeasuredRow& row) {
  return fmt::format("{}: {} of {:.0f} bytes on {} GPUs", row.place, to_string(row.operation),
                     row.bytes, row.gpus);
}

}  // namespace

std::vector<std::string> doubts(const Cluster& cluster, const std::vector<MeasuredRow>& rows) {
  const Cluster links = of_links_alone(cluster);
  Doubt end, gpu, share, time, rate;
  for (const MeasuredRow& row : rows) {
    if (row.run_to > 0) {
      end.add(fmt::format(
          "{}: the last row of a run of up to {:.0f} bytes: expected its other rows: was it cut?",
          what(row), row.run_to));
    }
    if (!cluster.gpu.empty() && !row.gpu.empty() && !has_word(row.gpu, cluster.gpu)) {
      gpu.add(fmt::format("{}: on '{}', but {} has {}: of another machine?", what(row),
                          shown(row.gpu), cluster.name, cluster.gpu));
    }
    const double factor = bus_factor(row.operation, row.gpus);
    if (row.bus_share > 0 && std::abs(row.bus_share / factor - 1) > kRounding) {
      share.add(
          fmt::format("{}: bus bandwidth is {:.3f} times algorithm bandwidth, expected "
                      "{:.3f}: of another op or number of GPUs?",
                      what(row), row.bus_share, factor));
    }
    // Tests print bytes over time with two digits behind the point.
    const double gb_per_s = row.bytes / row.us / 1e3;
    const double rounding = kPrinted * row.gb_per_s + 0.005;
    if (row.gb_per_s > 0 && std::abs(gb_per_s - row.gb_per_s) > rounding) {
      time.add(
          fmt::format("{}: in {} us these are {:.2f} GB/s, but the row has {:.2f}: expected "
                      "its algorithm bandwidth to be bytes over time",
                      what(row), row.us, gb_per_s, row.gb_per_s));
    }
    const auto least = times_of(links, {row.operation, row.bytes, row.gpus});
    if (least && row.us < (1 - kRounding) * least->front().us) {
      rate.add(fmt::format("{} in {} us: more than the links of {} carry, which take {:.1f} us",
                           what(row), row.us, cluster.name, least->front().us));
    }
  }
  std::vector<std::string> list;
  for (const Doubt& each : {end, gpu, share, time, rate}) each.report(list);
  return list;
}

}  // namespace overlaptune::cluster
