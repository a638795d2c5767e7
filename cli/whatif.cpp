// overlaptune whatif: what a collective takes on another cluster.

#include "cli/whatif.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "cli/flags/problem_flags.hpp"
#include "core/base/readable.hpp"
#include "core/base/text.hpp"
#include "core/base/text_file.hpp"
#include "planning/whatif/cluster_file.hpp"
#include "query/measured_times.hpp"

namespace overlaptune::cli {
namespace {

constexpr int kMostGpusAsked = 1 << 20;
constexpr double kGbPerS = 1e3;  // bytes per microsecond

double algbw(const WhatIfAnswer& answer) {
  return answer.question.bytes / answer.estimate.us / kGbPerS;
}

double busbw(const WhatIfAnswer& answer) {
  return algbw(answer) * cluster::bus_factor(answer.question.operation, answer.question.gpus);
}

const cluster::AlgorithmTime& best(const WhatIfAnswer& answer) {
  return answer.estimate.algorithms.front();
}

double latency_share(const cluster::AlgorithmTime& time) {
  return time.latency_us / time.us;
}

Table table_of(const std::vector<WhatIfAnswer>& answers) {
  const std::string& source = answers.front().calibrated_by;
  const bool calibrated = !source.empty();
  Table table{.name = "whatif", .columns = columns_of("cluster, bytes, us")};
  if (calibrated) {
    table.columns.push_back({"low us"});
    table.columns.push_back({"high us"});
  }
  for (const char* name : {"algorithm", "bound by", "algbw GB/s", "busbw GB/s", "latency %"}) {
    table.columns.push_back({name});
  }
  for (const WhatIfAnswer& answer : answers) {
    std::vector<Cell> row{answer.cluster, static_cast<std::int64_t>(answer.question.bytes),
                          answer.estimate.us};
    if (calibrated) {
      row.emplace_back(answer.estimate.low_us);
      row.emplace_back(answer.estimate.high_us);
    }
    row.insert(row.end(), {cell(best(answer).algorithm), best(answer).bound_by, algbw(answer),
                           busbw(answer), 100 * latency_share(best(answer))});
    table.rows.push_back(std::move(row));
  }
  return with_calibration(std::move(table), source);
}

Table table_of_algorithms(const WhatIfAnswer& answer) {
  Table table{.name = "algorithms",
              .columns = columns_of("algorithm, protocol, us, bound by, latency %")};
  for (const cluster::AlgorithmTime& time : answer.estimate.algorithms) {
    table.rows.push_back(
        {cell(time.algorithm), time.protocol, time.us, time.bound_by, 100 * latency_share(time)});
  }
  return with_calibration(std::move(table), answer.calibrated_by);
}

/// The times of the largest buffer on each cluster, what bounds them, and what they rest on.
std::string headline(const std::vector<WhatIfAnswer>& all) {
  double most = 0;
  for (const WhatIfAnswer& answer : all) most = std::max(most, answer.question.bytes);
  const cluster::Question& question = all.front().question;
  std::string text = fmt::format("{} of {} over {} GPUs takes", to_string(question.operation),
                                 readable(Bytes{static_cast<std::int64_t>(most)}), question.gpus);
  std::string bounds;
  for (const WhatIfAnswer& answer : all) {
    if (answer.question.bytes < most) continue;
    const bool first = bounds.empty();
    text += fmt::format("{} {} on {}", first ? "" : ",", time_of(answer), answer.cluster);
    bounds += fmt::format("{}{}: {}, bound by {}", first ? "" : "; ", answer.cluster,
                          to_string(best(answer).algorithm), best(answer).bound_by);
  }
  return fmt::format("{}{}\n{}\n", text, grounds(all.front().calibrated_by), bounds);
}

int whatif_of_operation(const WhatIfFlags& flags) {
  if (!flags.operation) refuse("--op: missing: expected one of {}", names_of<cluster::Operation>());
  if (flags.bytes.empty()) refuse("--bytes: missing: expected sizes, as in --bytes 1M,20G");
  if (flags.gpus == 0) refuse("--gpus: missing: expected a number of GPUs, as in --gpus 64");
  const MeasuredTimes measured = measured_times(flags, *flags.operation);
  std::vector<WhatIfAnswer> all;
  for (const std::string& name : flags.clusters) {
    const auto cluster = value_or_throw(cluster::find_cluster(name));
    warn_of(cluster, measured);
    const auto own = cluster::answers(cluster, measured, *flags.operation, flags.bytes, flags.gpus);
    all.insert(all.end(), own.begin(), own.end());
  }
  if (flags.common.json) {
    if (all.size() == 1) {
      print_json(json_of(all.front()));
      return kDone;
    }
    OrderedJson list = OrderedJson::array();
    for (const WhatIfAnswer& answer : all) list.push_back(json_of(answer));
    print_json({{"answers", std::move(list)}});
    return kDone;
  }
  std::string text = headline(all) + "\n" + to_markdown(table_of(all));
  if (all.size() == 1) text += "\n" + to_markdown(table_of_algorithms(all.front()));
  std::vector<std::string> said;
  for (const WhatIfAnswer& answer : all) {
    for (const std::string& note : answer.notes) {
      if (std::find(said.begin(), said.end(), note) != said.end()) continue;
      text += fmt::format("{}Note: {}\n", said.empty() ? "\n" : "", note);
      said.push_back(note);
    }
  }
  print(text);
  return kDone;
}

int whatif(const WhatIfFlags& flags, const Session& /*session*/) {
  if (flags.calibrate.empty() && !flags.platforms.empty()) {
    refuse("--platform: expected beside a database as --calibrate");
  }
  if (flags.model.empty()) {
    if (flags.data_parallel > 0) refuse("--data-parallel: expected only beside --model");
    return whatif_of_operation(flags);
  }
  if (flags.operation || !flags.bytes.empty() || flags.gpus > 0) {
    refuse("--model: expected without --op, --bytes and --gpus, which follow from it");
  }
  return whatif_of_model(flags);
}

Expected<double> share(const std::string& text) {
  const auto value = parsed<double>(text);
  if (value && *value > 0 && *value <= 1) return *value;
  return bad_input(fmt::format("'{}': expected a share above 0 and at most 1, as in 0.4", text));
}

Expected<std::vector<std::string>> names(const std::string& text) {
  auto list = CLI::detail::split(text, ',');
  if (std::find(list.begin(), list.end(), "") != list.end()) {
    return bad_input(fmt::format("'{}': expected names or files, separated by commas", text));
  }
  return list;
}

}  // namespace

MeasuredTimes measured_times(const WhatIfFlags& flags, cluster::Operation operation) {
  if (flags.calibrate.empty()) return {};
  if (!flags.platforms.empty() && !is_database(flags.calibrate)) {
    refuse("--platform: expected beside a database as --calibrate");
  }
  if (is_database(flags.calibrate)) {
    auto measured = stored_times(flags.calibrate, flags.platforms);
    if (!measured.rows.empty()) return measured;
    refuse("{}: no collective is stored: run `overlaptune probe` first", flags.calibrate);
  }
  const std::string text = value_or_throw(read_text_file(flags.calibrate));
  return {.rows = value_or_throw(cluster::parse_rows(text, flags.calibrate, operation)),
          .source = called(flags.calibrate)};
}

void warn_of(const cluster::Cluster& cluster, const MeasuredTimes& measured) {
  for (const std::string& note : cluster.notes) spdlog::warn("{}: {}", cluster.name, note);
  if (measured.rows.empty()) return;
  for (const std::string& doubt : cluster::doubts(cluster, measured.rows)) spdlog::warn(doubt);
}

OrderedJson json_of(const WhatIfAnswer& answer) {
  const cluster::Estimate& estimate = answer.estimate;
  OrderedJson document{{"cluster", answer.cluster},
                       {"op", to_string(answer.question.operation)},
                       {"bytes", static_cast<std::int64_t>(answer.question.bytes)},
                       {"gpus", answer.question.gpus},
                       {"us", estimate.us}};
  const bool calibrated = !answer.calibrated_by.empty();
  if (calibrated) {
    document["low_us"] = estimate.low_us;
    document["high_us"] = estimate.high_us;
  }
  if (!calibrated) document["in_a_loop_us"] = answer.in_a_loop_us;
  if (answer.in_a_hosts_loop_us > 0) {
    document["in_a_hosts_loop_us"] = answer.in_a_hosts_loop_us;
  }
  document["notes"] = answer.notes;
  document["calibrated"] = calibrated;
  document["calibrated_by"] = calibrated ? OrderedJson(answer.calibrated_by) : OrderedJson();
  document["algorithm"] = to_string(best(answer).algorithm);
  document["bound_by"] = best(answer).bound_by;
  document["latency_share"] = latency_share(best(answer));
  document["algbw_gb_per_s"] = algbw(answer);
  document["busbw_gb_per_s"] = busbw(answer);
  OrderedJson list = OrderedJson::array();
  for (const cluster::AlgorithmTime& time : estimate.algorithms) {
    list.push_back({{"algorithm", to_string(time.algorithm)},
                    {"protocol", time.protocol},
                    {"us", time.us},
                    {"latency_us", time.latency_us},
                    {"bound_by", time.bound_by}});
  }
  document["algorithms"] = std::move(list);
  return document;
}

std::string time_of(const WhatIfAnswer& answer) {
  const cluster::Estimate& estimate = answer.estimate;
  std::string text = readable(us(estimate.us));
  if (answer.calibrated_by.empty()) return text;
  return text +
         fmt::format(" ({} to {})", readable(us(estimate.low_us)), readable(us(estimate.high_us)));
}

std::string grounds(const std::string& source) {
  return source.empty() ? " (from data sheets, not measured)"
                        : fmt::format(" (calibrated by {})", source);
}

Table with_calibration(Table table, const std::string& source) {
  return source.empty() ? table : with_column(std::move(table), "calibrated by", source);
}

void add_whatif(CLI::App& root, Session& session) {
  const auto [command, flags] = add_command(
      root, session, "whatif", "What a collective or a training step takes on other links",
      "overlaptune whatif --cluster hgx-h100 --op all_reduce --bytes 20G --gpus 64", whatif);
  add_parsed(command, "--cluster NAME,...", flags.clusters, names,
             "JSON files, or of " + cluster::names_of_clusters() +
                 "; NODE+NETWORK joins two, as in hgx-h100+ib-200")
      ->required();
  add_parsed(command, "--op OP", flags.operation, parse_name<cluster::Operation>,
             names_of<cluster::Operation>());
  add_parsed(command, "--bytes SIZE,...", flags.bytes, list_of(parse_bytes),
             "Bytes of the whole buffer, as nccl-tests counts them: 1M,64MiB,20GB");
  add_parsed(command, "--gpus N", flags.gpus, whole_number(2, kMostGpusAsked),
             "GPUs that take part");
  add_text(command, "--calibrate FILE", flags.calibrate,
           "Measured times: CSV of op,gpus,bytes,us, what nccl-tests or rccl-tests printed or "
           "wrote, or a database with probes");
  add_parsed(command, "--platform NAME,...", flags.platforms, names,
             "Platforms of the database of --calibrate (default: the only one)");
  add_text(command, "--model FILE", flags.model, "Hugging Face config.json of a model to train");
  add_assume_dense_flag(command, flags.reading);
  add_parsed(command, "--data-parallel N", flags.data_parallel, whole_number(2, kMostGpusAsked),
             "Replicas of --model, whose gradients are all-reduced");
  add_parsed(command, "--tensor-parallel N", flags.tensor_parallel, whole_number(1, kMostGpusAsked),
             "GPUs of each replica of --model (1)");
  add_parsed(command, "--utilisation SHARE", flags.utilisation, share,
             "Share of the data sheet's TFLOP/s that a step of --model reaches (0.4)");
}

}  // namespace overlaptune::cli
