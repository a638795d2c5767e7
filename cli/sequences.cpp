// overlaptune sequences: plans sequence-parallel groups for batches of sequences.

#include "reports/plans/sequences.hpp"

#include <algorithm>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.hpp"
#include "cli/flags/sequence_costs.hpp"
#include "cli/interrupt.hpp"
#include "cli/output/progress.hpp"
#include "core/base/environment.hpp"
#include "core/base/text_file.hpp"
#include "planning/sequences/lengths.hpp"
#include "planning/sequences/limits.hpp"
#include "planning/sequences/picture.hpp"
#include "planning/sequences/study.hpp"

namespace overlaptune::cli {
namespace {

constexpr int kMostGpus = 65'536;
constexpr int kLargestLimit = 65'536;
constexpr int kMostBatch = 1'000'000;
constexpr std::size_t kMostLengthsBytes = std::size_t{256} << 20;

struct SequencesFlags {
  CommonFlags common{};
  CostFlags costs{};
  AskedLimits limits{};
  std::string lengths{};
  std::string out{};
  int gpus = 0;
  int gpus_per_node = 0;
  int batch = 0;
  std::optional<int> batches{};
  std::int64_t max_length = 0;
  bool cut = false;
  bool picture = false;
};

bool is_power_of_two(int number) {
  return (number & (number - 1)) == 0;
}

void check_gpus(const SequencesFlags& flags) {
  if (!is_power_of_two(flags.gpus)) refuse("--gpus {}: expected a power of two", flags.gpus);
  if (flags.gpus % flags.gpus_per_node != 0) {
    refuse("--gpus {}: expected a multiple of --gpus-per-node {}", flags.gpus, flags.gpus_per_node);
  }
  if (!is_power_of_two(flags.gpus_per_node)) {
    refuse("--gpus-per-node {}: expected a power of two", flags.gpus_per_node);
  }
}

/// The lengths of each batch, in the order of the file; the last one may be smaller.
std::vector<std::vector<std::int64_t>> batches_of(const SequencesFlags& flags,
                                                  const PreparedLengths& prepared) {
  const auto size = static_cast<std::size_t>(flags.batch);
  const auto& lengths = prepared.lengths;
  std::vector<std::vector<std::int64_t>> batches;
  const std::size_t most =
      flags.batches ? static_cast<std::size_t>(*flags.batches) : lengths.size();
  for (std::size_t at = 0; at < lengths.size() && batches.size() < most; at += size) {
    const std::size_t end = std::min(lengths.size(), at + size);
    // The rest at the end of the file is no whole batch; it is planned only where it is all there
    // is.
    if (end - at < size && !batches.empty()) break;
    batches.emplace_back(lengths.begin() + static_cast<std::ptrdiff_t>(at),
                         lengths.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return batches;
}

/// The advice where the widest group, of `degree` GPUs, has too little memory.
std::string more_room(const ChosenLimits& allowed, int degree, int gpus) {
  if (degree == gpus) return "expected more memory, more GPUs or a smaller --max-length";
  if (!allowed.heads_bound) {
    return "expected more memory, a larger --most-degree or a smaller --max-length";
  }
  return fmt::format(
      "expected more memory or a smaller --max-length; the heads of the model allow no groups of "
      "more than {} GPUs",
      degree);
}

/// Refuses sequences that do not fit into the memory of the widest group.
void check_memory(const Rates& rates, const Costs& costs, const StudyInput& input,
                  const ChosenLimits& allowed) {
  const int level = rates.levels() - 1;
  std::int64_t longest = 0;
  for (const auto& batch : input.batches) {
    longest = std::max(longest, *std::max_element(batch.begin(), batch.end()));
  }
  const std::int64_t tokens = rates.padded(longest, level);
  if (tokens <= rates.capacity(level)) return;
  const int degree = 1 << level;
  const double needed =
      costs.state_bytes() + costs.token_bytes() * static_cast<double>(tokens) / degree;
  refuse(
      "--lengths: a sequence of {} tokens needs {:.1f} GiB on each of {} GPUs, which have {:.1f} "
      "GiB (at most {} tokens): {}",
      tokens, needed / (1 << 30), degree, input.gpus.memory_bytes / (1 << 30),
      rates.capacity(level), more_room(allowed, degree, input.gpus.count));
}

/// Refuses batches for which no plan keeps the limits.
void check_planned(const Study& study, const SequencesFlags& flags) {
  for (std::size_t i = 0; i < study.batches.size(); ++i) {
    if (!study.batches[i].plan.micro_batches.empty()) continue;
    refuse(
        "--micro-batch-multiple {}: batch {} has too few sequences for so many micro-batches: "
        "expected a larger --batch",
        flags.limits.micro_batches.value_or(1), i);
  }
}

/// Sentences on lengths of the file that no whole batch has.
std::vector<std::string> batch_notes(const SequencesFlags& flags, const PreparedLengths& prepared,
                                     const StudyInput& input) {
  const auto size = static_cast<std::size_t>(flags.batch);
  const std::size_t lengths = prepared.lengths.size();
  if (lengths < size) {
    return {fmt::format("{} has {} sequences: they do not fill a batch of {}",
                        called(flags.lengths), lengths, flags.batch)};
  }
  const bool all = input.batches.size() == lengths / size;
  if (!all || lengths % size == 0) return {};
  return {fmt::format("the last {} sequences of {} do not fill a batch and are left out",
                      lengths % size, called(flags.lengths))};
}

bool coloured() {
  return isatty(STDOUT_FILENO) != 0 && !environment().no_color;
}

/// The text with `mark` at the end of every line with a figure.
std::string marked(const std::string& text, std::string_view mark) {
  std::string made;
  bool figure = false;
  for (const char c : text) {
    if (c == '\n' && figure) made += mark;
    figure = c != '\n' && (figure || (c >= '0' && c <= '9'));
    made += c;
  }
  return made;
}

int sequences(const SequencesFlags& flags, const Session& /*session*/) {
  check_gpus(flags);
  PreparedLengths prepared = prepare_lengths(
      value_or_throw(parse_lengths(value_or_throw(read_text_file(flags.lengths, kMostLengthsBytes)),
                                   flags.lengths)),
      flags.max_length, flags.cut ? TooLong::cut : TooLong::drop, 1);
  if (prepared.lengths.empty()) {
    refuse("{}: every sequence is longer than --max-length {}", flags.lengths, flags.max_length);
  }
  const ChosenCosts chosen =
      choose_costs(flags.costs, flags.gpus, flags.gpus_per_node, flags.max_length);
  const ChosenLimits allowed = choose_limits(flags.limits, flags.gpus, chosen.heads);
  const StudyInput input{.gpus = {flags.gpus, flags.gpus_per_node, chosen.memory_bytes},
                         .batches = batches_of(flags, prepared)};
  const Rates rates(chosen.costs, input.gpus, allowed.limits);
  check_memory(rates, chosen.costs, input, allowed);
  catch_interrupts();
  const Study study = [&] {
    ProgressBar bar;
    return run_study(rates, input, bar.callback());
  }();
  if (study.batches.size() < input.batches.size()) return kSignalBase + interrupted();
  check_planned(study, flags);
  std::vector<std::string> notes = batch_notes(flags, prepared, input);
  notes.insert(notes.end(), allowed.notes.begin(), allowed.notes.end());
  OrderedJson document =
      json_of(study, {.batch = flags.batch, .places = prepared.places, .limits = allowed.limits});
  document["notes"] = notes;
  document["gpus"] = flags.gpus;
  document["gpus_per_node"] = flags.gpus_per_node;
  document["costs"] = chosen.sources;
  document["simulated"] = chosen.simulated;
  add_assumptions(document, chosen.assumptions);
  document["too_long"] = prepared.too_long;
  document["too_long_were"] = flags.cut ? "cut" : "dropped";
  if (!flags.out.empty()) write_file(flags.out, json_text(document));
  if (flags.common.json) {
    print_json(document);
    return kDone;
  }
  const std::string_view mark = chosen.simulated ? " (simulated)" : "";
  std::string text =
      marked(headline_of(study) + fmt::format("{}; costs: {}{}\n", extent_of(study, flags.gpus),
                                              fmt::join(chosen.sources, "; "),
                                              assumed(chosen.assumptions)),
             mark);
  if (prepared.too_long > 0) {
    text += fmt::format(
        "{} above {} tokens {} {}\n",
        prepared.too_long == 1 ? "1 sequence" : fmt::format("{} sequences", prepared.too_long),
        flags.max_length, prepared.too_long == 1 ? "was" : "were", flags.cut ? "cut" : "dropped");
  }
  for (const std::string& note : notes) text += note + "\n";
  text += "\n" + marked(summary_of(study), mark);
  if (flags.common.verbose) text += "\n" + marked(batch_lines(study), mark);
  print(marked_lines(text, chosen.assumptions));
  if (flags.picture) {
    print_own("\n" + picture(study.batches.front().plan, input.gpus, {.colour = coloured()}));
  }
  return kDone;
}

void add_limit_flags(CLI::App& command, AskedLimits& flags) {
  const auto add = [&](const std::string& usage, std::optional<int>& limit,
                       const std::string& description) {
    add_parsed(command, usage, limit, whole_number(1, kLargestLimit), description);
  };
  add("--heads N", flags.heads,
      "Heads of attention, which a degree divides (default: what the model says)");
  add("--least-degree N", flags.least_degree, "Least GPUs of a group: a power of two");
  add("--most-degree N", flags.most_degree, "Most GPUs of a group: a power of two");
  add("--group-sequences N", flags.group_sequences,
      "Most sequences that a group packs into one micro-batch");
  add("--micro-batch-multiple N", flags.micro_batches,
      "The number of micro-batches is a multiple of this, as pipelines need");
  add("--pad N", flags.pad,
      "A group of degree d pads its sequences to multiples of N times d (default: all groups pad "
      "to multiples of twice --gpus)");
}

}  // namespace

void add_sequences(CLI::App& root, Session& session) {
  const auto [command, flags] = add_command(
      root, session, "sequences",
      "Plans sequence-parallel groups of different sizes for each batch",
      "overlaptune sequences --lengths lengths.txt --gpus 64 --gpus-per-node 8 --batch 512 \\\n"
      "    --max-length 192k --costs costs.json --model gpt-7b --picture",
      sequences);
  add_text(command, "--lengths FILE", flags.lengths, "Sequence lengths in tokens, one a line")
      ->required();
  command.get_option("--verbose")
      ->description("Print a line for each batch, too; log every step, with the time of day");
  add_parsed(command, "--gpus N", flags.gpus, whole_number(1, kMostGpus), "GPUs: a power of two")
      ->required();
  add_parsed(command, "--gpus-per-node N", flags.gpus_per_node, whole_number(1, kMostGpus),
             "GPUs of a node")
      ->required();
  add_parsed(command, "--batch N", flags.batch, whole_number(1, kMostBatch), "Sequences of a batch")
      ->required();
  add_parsed(command, "--batches N", flags.batches, whole_number(1, kMostBatch),
             "Plan only the first batches of the file");
  add_parsed(command, "--max-length SIZE", flags.max_length, size_of_bits(40),
             "Context length: longer sequences are dropped")
      ->required();
  command.add_flag("--cut", flags.cut, "Cut longer sequences instead of dropping them");
  add_cost_flags(command, flags.costs);
  add_limit_flags(command, flags.limits);
  command.add_flag("--picture", flags.picture, "Draw the plan of the first batch");
  add_text(command, "--out FILE", flags.out, "File for the JSON document with all plans");
}

}  // namespace overlaptune::cli
