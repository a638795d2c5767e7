#include "cli/flags/one_problem.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/flags/problem_flags.hpp"

namespace overlaptune::cli {
namespace {

/// A way to name a problem: flags that belong together, and whether each is given.
using Way = std::vector<std::pair<std::string, bool>>;

std::vector<std::string> named(const Way& way, bool given) {
  std::vector<std::string> names;
  for (const auto& [flag, is_given] : way) {
    if (is_given == given) names.push_back(flag);
  }
  return names;
}

constexpr const char* kWays =
    "--problem OP:M,N,K:dtype:ranks, or --op, --m, --n, --k, --dtype and --ranks, or --model, "
    "--layer, --tokens and --tp";

/// The product that most layers have. The sentences name those of other sizes.
AskedProblem most_frequent(const std::vector<LayerGemm>& gemms, Assumptions assumptions) {
  const LayerGemm& most = *std::ranges::max_element(gemms, {}, &LayerGemm::times_per_pass);
  for (const LayerGemm& other : gemms) {
    if (other.problem == most.problem) continue;
    assumptions.sentences.push_back(fmt::format(
        "{} has other sizes in some layers: this is the one that a pass runs {} times; {} times it "
        "is {}",
        to_string(most.product), most.times_per_pass, other.times_per_pass,
        to_string(other.problem)));
  }
  return {.problem = most.problem, .assumptions = std::move(assumptions)};
}

AskedProblem of_layer(const ProblemFlags& flags) {
  const Workload work = workload_of(
      flags.model,
      {.tp = *flags.tp,
       .tokens = {*flags.tokens},
       .parallelism = {flags.sequence_parallel ? Parallelism::sequence : Parallelism::tensor}},
      flags.reading);
  std::vector<std::string_view> layers;
  std::vector<LayerGemm> own;
  for (const LayerGemm& gemm : work.gemms) {
    if (gemm.product == *flags.layer) own.push_back(gemm);
    layers.push_back(to_string(gemm.product));
  }
  if (!own.empty()) return most_frequent(own, {work.assumptions, work.assumed_dense});
  refuse("--layer {}: expected one of {}{}", to_string(*flags.layer), fmt::join(layers, ", "),
         flags.sequence_parallel
             ? ""
             : ", or --sequence-parallel, under which more products have a collective");
}

}  // namespace

void add_problem_flags(CLI::App& command, ProblemFlags& flags) {
  add_parsed(command, "--problem OP:M,N,K:dtype:ranks", flags.problem, parse_problem,
             "The problem, as reports print it; or give the flags from --op to --ranks, or those "
             "from --model to --tp");
  add_parsed(command, "--op OP", flags.op, parse_name<Op>, names_of<Op>());
  const std::pair<const char*, std::optional<std::int64_t> ProblemFlags::*> sizes[] = {
      {"--m SIZE", &ProblemFlags::m},
      {"--n SIZE", &ProblemFlags::n},
      {"--k SIZE", &ProblemFlags::k}};
  for (const auto& [usage, size] : sizes) {
    add_parsed(command, usage, flags.*size, parse_size, "Size that one rank computes");
  }
  add_parsed(command, "--dtype DTYPE", flags.elements, parse_name<Elements>, names_of<Elements>());
  add_parsed(command, "--ranks N", flags.ranks, whole_number(2, kMostRanks),
             "GPUs of the tensor-parallel group");
  add_text(command, "--model FILE", flags.model, "Hugging Face config.json of a model");
  add_parsed(command, "--layer NAME", flags.layer, parse_name<Product>,
             "Product of a layer of --model: o, down, qkv, gate_up, combine, ...");
  add_parsed(command, "--tokens SIZE", flags.tokens, parse_size, "Tokens of a pass of --model");
  add_parsed(command, "--tp N", flags.tp, whole_number(2, kMostRanks),
             "GPUs that --model is divided over");
  command.add_flag("--sequence-parallel", flags.sequence_parallel,
                   "The layer of --model under sequence parallelism instead of plain TP");
  add_assume_dense_flag(command, flags.reading);
}

AskedProblem read_problem(const ProblemFlags& flags) {
  const std::array<Way, 3> ways{{{{"--problem", flags.problem.has_value()}},
                                 {{"--op", flags.op.has_value()},
                                  {"--m", flags.m.has_value()},
                                  {"--n", flags.n.has_value()},
                                  {"--k", flags.k.has_value()},
                                  {"--dtype", flags.elements.has_value()},
                                  {"--ranks", flags.ranks.has_value()}},
                                 {{"--model", !flags.model.empty()},
                                  {"--layer", flags.layer.has_value()},
                                  {"--tokens", flags.tokens.has_value()},
                                  {"--tp", flags.tp.has_value()}}}};
  std::vector<const Way*> begun;
  for (const Way& way : ways) {
    if (!named(way, true).empty()) begun.push_back(&way);
  }
  if (begun.empty()) refuse("no problem given: expected {}", kWays);
  if (begun.size() > 1) {
    refuse("{} and {}: give one of {}", named(*begun[0], true).front(),
           named(*begun[1], true).front(), kWays);
  }
  if (const auto missing = named(*begun.front(), false); !missing.empty()) {
    refuse("{}: missing beside {}", fmt::join(missing, ", "),
           fmt::join(named(*begun.front(), true), ", "));
  }
  if (flags.sequence_parallel && flags.model.empty()) {
    refuse("--sequence-parallel: expected only beside --model");
  }
  if (flags.problem) return {.problem = *flags.problem};
  if (!flags.model.empty()) return of_layer(flags);
  return {.problem = value_or_throw(validated({.op = *flags.op,
                                               .m = *flags.m,
                                               .n = *flags.n,
                                               .k = *flags.k,
                                               .elements = *flags.elements,
                                               .ranks = *flags.ranks}))};
}

}  // namespace overlaptune::cli
