#include "tests/gpu/plan_check/options.hpp"

#include <cstdlib>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/gpu_sharing.hpp"

namespace overlaptune::plan_check {
namespace {

constexpr int kMostNodes = 4;

/// The texts of the options, as they are given.
struct Texts {
  std::string op{};
  std::string strategy{};
  std::vector<std::string> problems{};
};

/// The value of an option; throws `Failure` with the option's name.
template <class T>
T value_of(const char* option, Expected<T> value) {
  if (value) return std::move(*value);
  throw Failure(ErrorKind::bad_input, fmt::format("{}: {}", option, value.error().message));
}

Options options_of(Options options, const Texts& texts) {
  if (!texts.op.empty()) options.selection.op = value_of("--op", parse_name<Op>(texts.op));
  if (!texts.strategy.empty()) {
    options.selection.strategy = value_of("--strategy", parse_name<Strategy>(texts.strategy));
  }
  for (const std::string& text : texts.problems) {
    options.problems.push_back(value_of("--problem", parse_problem(text)));
  }
  if (options.ranks_per_gpu > 1 && !options.database.empty()) {
    throw Failure(ErrorKind::bad_input,
                  "--db: times of ranks that share a GPU mean nothing: leave out --ranks-per-gpu");
  }
  if (options.nodes > 1 && (options.ranks_per_gpu > 1 || options.gives_memory)) {
    throw Failure(ErrorKind::bad_input,
                  "--nodes: expected neither --ranks-per-gpu nor --given-memory beside it");
  }
  return options;
}

}  // namespace

Expected<Options> parse_options(int argc, const char* const* argv) {
  CLI::App app{
      "Plans of liboverlaptune-run, one process a GPU: results of every strategy, or, with "
      "--db, times beside those that are stored."};
  Options options;
  Texts texts;
  app.add_option("--db", options.database, "time the winners stored for this platform");
  app.add_option("--problem", texts.problems, "of these only: OP:M,N,K:dtype:ranks");
  app.add_option("--op", texts.op, "without --db: results of this op only");
  app.add_option("--strategy", texts.strategy, "without --db: results of this strategy only");
  app.add_option("--ranks-per-gpu", options.ranks_per_gpu,
                 "more than 1: so many processes share each GPU, which proves results and no times")
      ->check(CLI::Range(1, kMostRanksPerGpu));
  app.add_flag("--given-memory", options.gives_memory,
               "the world's memory is the caller's (ovt_world_options.peers)");
  app.add_option("--nodes", options.nodes,
                 "more than 1: NCCL takes the GPUs for those of so many hosts, joined by sockets")
      ->check(CLI::Range(1, kMostNodes));
  try {
    app.parse(argc, argv);
    return options_of(std::move(options), texts);
  } catch (const CLI::Success& wanted) {  // help
    std::exit(app.exit(wanted));
  } catch (const CLI::ParseError& wrong) {
    return bad_input(wrong.what());
  } catch (const Failure& wrong) {
    return bad_input(wrong.what());
  }
}

}  // namespace overlaptune::plan_check
