#include "cli/output/advice_output.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/output/origin.hpp"
#include "core/base/readable.hpp"
#include "reports/json.hpp"
#include "reports/winners.hpp"

namespace overlaptune::cli {
namespace {

bool has_choice(const Operation& operation) {
  return operation.kind == OperationKind::problem;
}

std::string_view op_of(const Operation& operation) {
  switch (operation.kind) {
    case OperationKind::problem:
      return to_string(operation.problem.op);
    case OperationKind::gemm:
      return "gemm";
    case OperationKind::collective:
      return to_string(collective_of(operation.problem.op));
  }
  return {};
}

/// "layer", or which of the two kinds it is.
std::string name_of(const LayerSum& sum, const Pass& pass) {
  if (pass.layers.size() == 1 && sum.dense) return "layer";
  return sum.dense ? "dense layer" : "layer with experts";
}

/// The operations of a pass whose times are measured.
std::ptrdiff_t exact_operations(const Pass& pass) {
  return std::ranges::count(pass.operations, Source::exact,
                            [](const Operation& each) { return each.answer.source; });
}

double us_per_token(const Pass& pass) {
  return pass.times.overlapped.count() / static_cast<double>(pass.tokens);
}

std::vector<Cell> key(const Pass& pass) {
  return {pass.tokens, cell(pass.tp), cell(pass.parallelism)};
}

void append(std::vector<Cell>& row, const Times& times) {
  row.insert(row.end(), {times.sequential.count(), times.overlapped.count(), times.speedup(),
                         times.saved().count()});
}

Table passes_table(const Advice& advice) {
  Table table{.name = "passes",
              .columns = columns_of("tokens, tp, parallelism, sequential us, overlapped us, "
                                    "speedup:3, saved us, us a token:3, GPU us a token:3, exact")};
  for (const Pass& pass : advice.passes) {
    auto row = key(pass);
    append(row, pass.times);
    row.insert(row.end(),
               {us_per_token(pass), pass.tp * us_per_token(pass),
                fmt::format("{} of {}", exact_operations(pass), pass.operations.size())});
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// The operations of a layer and its sums, pass by pass.
Table operations_table(const Advice& advice) {
  Table table{
      .name = "operations",
      .columns = columns_of("tokens, tp, parallelism, operation, times, op, strategy, sequential "
                            "us, overlapped us, speedup:3, saved us, answer, config")};
  const auto add_sum = [&](const Pass& pass, const std::string& name, std::int64_t times,
                           const Times& sum) {
    auto row = key(pass);
    row.insert(row.end(), {name, times, {}, {}});
    append(row, sum);
    row.insert(row.end(), {Cell(), Cell()});
    table.rows.push_back(std::move(row));
  };
  for (const Pass& pass : advice.passes) {
    for (const Operation& each : pass.operations) {
      auto row = key(pass);
      const Config& config = each.answer.config;
      row.insert(row.end(), {cell(each.product), each.times_per_pass, std::string(op_of(each)),
                             has_choice(each) ? cell(strategy_of(config)) : Cell()});
      append(row, {each.sequential, each.time});
      row.insert(row.end(),
                 {cell(each.answer.source), has_choice(each) ? Cell(to_string(config)) : Cell()});
      table.rows.push_back(std::move(row));
    }
    for (const LayerSum& sum : pass.layers) {
      add_sum(pass, name_of(sum, pass), sum.layers, sum.times);
    }
    add_sum(pass, "pass", 1, pass.times);
  }
  return table;
}

OrderedJson json_of(const Times& times) {
  return {{"sequential_us", times.sequential.count()},
          {"overlapped_us", times.overlapped.count()},
          {"speedup", times.speedup()},
          {"saved_us", times.saved().count()}};
}

OrderedJson json_of(const Operation& each) {
  OrderedJson problem = overlaptune::json_of(each.problem);
  problem["op"] = op_of(each);
  if (each.kind == OperationKind::collective) problem["k"] = nullptr;
  OrderedJson json{{"product", to_string(each.product)},
                   {"times_per_pass", each.times_per_pass},
                   {"problem", std::move(problem)},
                   {"source", to_string(each.answer.source)},
                   {"reason", each.answer.reason}};
  json["strategy"] =
      has_choice(each) ? OrderedJson(to_string(strategy_of(each.answer.config))) : OrderedJson();
  json["config_line"] =
      has_choice(each) ? OrderedJson(to_string(each.answer.config)) : OrderedJson();
  json.update(json_of(Times{each.sequential, each.time}));
  return json;
}

OrderedJson json_of(const Pass& pass) {
  OrderedJson operations = OrderedJson::array();
  for (const Operation& each : pass.operations) operations.push_back(json_of(each));
  OrderedJson layers = OrderedJson::array();
  for (const LayerSum& sum : pass.layers) {
    OrderedJson layer{{"kind", sum.dense ? "dense" : "experts"}, {"layers", sum.layers}};
    layer.update(json_of(sum.times));
    layers.push_back(std::move(layer));
  }
  OrderedJson json{{"tokens", pass.tokens},
                   {"tp", pass.tp},
                   {"parallelism", to_string(pass.parallelism)},
                   {"operations", std::move(operations)},
                   {"layers", std::move(layers)}};
  json.update(json_of(pass.times));
  json["us_per_token"] = us_per_token(pass);
  json["gpu_us_per_token"] = pass.tp * us_per_token(pass);
  return json;
}

/// The passes of one number of tokens.
struct Gain {
  double least = 0;
  double most = 0;
  Microseconds saved{};  ///< the most that one of them saves
};

Gain gain_at(const Advice& advice, std::int64_t tokens) {
  Gain gain;
  for (const Pass& pass : advice.passes) {
    if (pass.tokens != tokens) continue;
    const double speedup = pass.times.speedup();
    gain.least = gain.most == 0 ? speedup : std::min(gain.least, speedup);
    gain.most = std::max(gain.most, speedup);
    gain.saved = std::max(gain.saved, pass.times.saved());
  }
  return gain;
}

std::string range_of(const Gain& gain) {
  const std::string least = fmt::format("{:.2f}", gain.least);
  const std::string most = fmt::format("{:.2f}", gain.most);
  return least == most ? least : least + " to " + most;
}

/// The fastest passes with the most and the fewest tokens; one where they are the same.
std::vector<const Pass*> ends(const Advice& advice) {
  const auto passes = fastest(advice);
  const auto [fewest, most] = std::ranges::minmax_element(passes, {}, &Pass::tokens);
  if ((*fewest)->tokens == (*most)->tokens) return {*most};
  return {*most, *fewest};
}

std::string gains(const Advised& advised, const std::vector<const Pass*>& ends) {
  std::string line = fmt::format("Overlap makes a forward pass of {}", advised.config.name);
  for (const Pass* pass : ends) {
    const Gain gain = gain_at(advised.advice, pass->tokens);
    const bool first = pass == ends.front();
    line += fmt::format("{} {}{} at {}{}", first ? "" : ",", range_of(gain),
                        first ? " times as fast" : "", readable_count(pass->tokens),
                        first ? " tokens" : "");
    if (first) line += fmt::format(" (up to {} saved)", readable(gain.saved));
  }
  return line;
}

std::string divisions(const std::vector<const Pass*>& ends) {
  std::vector<std::string> parts;
  parts.reserve(ends.size());
  for (const Pass* pass : ends) {
    parts.push_back(
        fmt::format("at {} --tp {} {}, {} instead of {}", readable_count(pass->tokens), pass->tp,
                    pass->parallelism == Parallelism::sequence ? "with sequence parallelism"
                                                               : "with all-reduce (plain TP)",
                    readable(pass->times.overlapped), readable(pass->times.sequential)));
  }
  return fmt::format("Fastest: {}", fmt::join(parts, "; "));
}

std::string grounds(const Advised& advised) {
  std::ptrdiff_t measured = 0;
  std::size_t all = 0;
  for (const Pass& pass : advised.advice.passes) {
    all += pass.operations.size();
    measured += exact_operations(pass);
  }
  return fmt::format(
      "On {}, {} launch: {} of {} times of operations are measured, the others predicted",
      full_name(advised.platform), to_string(advised.launch), measured, all);
}

}  // namespace

std::string left_out_lines(const Advice& advice) {
  std::string lines;
  const auto& list = advice.left_out;
  for (auto it = list.begin(); it != list.end(); ++it) {
    const auto alike = [&](const PassLeftOut& other) {
      return other.tp == it->tp && other.reason == it->reason;
    };
    if (std::any_of(list.begin(), it, alike)) continue;
    std::string tokens;
    for (const PassLeftOut& other : list) {
      if (!alike(other) || other.tokens == 0) continue;
      tokens += fmt::format("{}{} tokens {}", tokens.empty() ? " (" : ", ", other.tokens,
                            to_string(other.parallelism));
    }
    lines += fmt::format("Left out: --tp {}{}: {}\n", it->tp, tokens.empty() ? "" : tokens + ")",
                         it->reason);
  }
  return lines;
}

std::string note_lines(const Advised& advised) {
  std::string text;
  for (const std::string& note : advised.advice.notes) {
    const auto& said = advised.config.assumptions;  // in the first lines
    if (std::find(said.begin(), said.end(), note) == said.end()) {
      text += fmt::format("Note: {}\n", note);
    }
  }
  return text;
}

std::string headline(const Advised& advised, const Assumptions& assumptions) {
  const auto passes = ends(advised.advice);
  const std::string_view mark = simulated_mark(advised.platform);
  return fmt::format("{}{}\n{}{}\n{}{}{}\n", gains(advised, passes), mark, divisions(passes), mark,
                     grounds(advised), assumed(assumptions), mark);
}

std::string text(const Advised& advised) {
  const auto& [config, platform, launch, advice] = advised;
  std::string text = fmt::format("A forward pass of {} layers:\n{}", config.layers,
                                 to_markdown(with_machine(passes_table(advice), platform)));
  text += fmt::format("\nThe operations of a layer, and their sums:\n{}",
                      to_markdown(with_machine(operations_table(advice), platform)));
  return text + left_out_lines(advice) + note_lines(advised);
}

OrderedJson document(const Advised& advised) {
  const auto& [config, platform, launch, advice] = advised;
  OrderedJson passes = OrderedJson::array();
  for (const Pass& pass : advice.passes) passes.push_back(json_of(pass));
  OrderedJson best = OrderedJson::array();
  for (const Pass* pass : fastest(advice)) {
    best.push_back({{"tokens", pass->tokens},
                    {"tp", pass->tp},
                    {"parallelism", to_string(pass->parallelism)},
                    {"us_per_token", us_per_token(*pass)}});
  }
  OrderedJson left_out = OrderedJson::array();
  for (const PassLeftOut& each : advice.left_out) {
    const bool whole = each.tokens == 0;
    left_out.push_back({{"tp", each.tp},
                        {"parallelism", whole ? OrderedJson() : to_string(each.parallelism)},
                        {"tokens", whole ? OrderedJson() : OrderedJson(each.tokens)},
                        {"reason", each.reason}});
  }
  OrderedJson json{{"model", config.name},        {"layers", config.layers},
                   {"platform", platform.name},   {"fingerprint", fingerprint(platform)},
                   {"launch", to_string(launch)}, {"passes", std::move(passes)},
                   {"fastest", std::move(best)},  {"left_out", std::move(left_out)},
                   {"notes", advice.notes}};
  add_origin(json, platform);
  return json;
}

}  // namespace overlaptune::cli
