#pragma once
// The gain of overlap for a whole model: answers for the products of its layers, and their sums
// over layers and passes. The times come from an `Adviser`, which `query/measured_platform.hpp`
// makes from a database.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/answer.hpp"
#include "core/layer_gemm.hpp"
#include "core/measurement.hpp"
#include "core/platform.hpp"
#include "workload/workload.hpp"

namespace overlaptune {

/// The answers for one platform and one launch.
struct Adviser {
  Platform platform{};
  std::set<int> probed{};  ///< rank counts of the collectives that were probed
  std::function<Answer(const Problem&)> ask{};
  /// The time of a product without a collective, or of a collective without a product. Error: its
  /// dtype or collective was never probed.
  std::function<Expected<Microseconds>(const Probe&)> alone{};
};

enum class OperationKind {
  problem,     ///< a GEMM and a collective, with a choice of configs
  gemm,        ///< a GEMM alone: `problem.op` has no meaning
  collective,  ///< a collective alone, that of `problem.op`: `problem.k` has no meaning
};

/// A product or a collective of a layer, with its answer. What is alone has no choice of configs,
/// and its two times are equal.
struct Operation {
  Product product = Product::o;
  OperationKind kind = OperationKind::problem;
  std::int64_t times_per_pass = 0;
  Problem problem{};
  Answer answer{};
  Microseconds sequential{};
  Microseconds time{};  ///< measured if the answer is exact, else predicted
};

struct Times {
  Microseconds sequential{};
  Microseconds overlapped{};
  [[nodiscard]] double speedup() const { return sequential / overlapped; }
  [[nodiscard]] Microseconds saved() const { return sequential - overlapped; }
};

/// Layers of one kind: their MLPs are all dense, or all have experts.
struct LayerSum {
  bool dense = true;
  std::int64_t layers = 0;
  Times times{};  ///< of one layer
};

/// A forward pass of the model, divided in one way.
struct Pass {
  int tp = 0;
  Parallelism parallelism = Parallelism::tensor;
  std::int64_t tokens = 0;
  std::vector<Operation> operations{};  ///< in the order of a layer
  /// Dense layers first; no kind without layers. Empty where layers differ in other ways, too.
  std::vector<LayerSum> layers{};
  Times times{};  ///< sum over all layers
};

/// A pass for which a product has no time.
struct PassLeftOut {
  int tp = 0;
  Parallelism parallelism = Parallelism::tensor;
  std::int64_t tokens = 0;
  std::string reason{};
};

struct Advice {
  std::vector<Pass> passes{};  ///< by tokens, tp, then parallelism
  std::vector<PassLeftOut> left_out{};
  std::vector<std::string> notes{};  ///< sentences that say which parts of the model are left out
};

struct AdviceOptions {
  std::vector<int> tp{};  ///< empty: the rank counts that were probed
  std::vector<std::int64_t> tokens{};
  std::vector<Parallelism> parallelism{};
};

/// The products of a pass of so many tokens, divided in one way. Error: it cannot be divided so.
struct LayoutWork {
  std::int64_t tokens = 0;
  Parallelism parallelism = Parallelism::tensor;
  Expected<Workload> work;
};

/// One for each number of tokens and parallelism. Error: none of them can be divided over `tp`.
[[nodiscard]] Expected<std::vector<LayoutWork>> layouts(const ModelConfig& config,
                                                        const AdviceOptions& options, int tp);

/// Asks for every product of the model. Throws `Failure` (`bad_input`) for options of which
/// `layouts` serves none. Rank counts that were not asked for by name are left out instead, as are
/// layouts that cannot serve a number of tokens.
[[nodiscard]] Advice advise(const ModelConfig& config, const AdviceOptions& options,
                            const Adviser& adviser);

/// The fastest pass for each number of tokens, in the order of `passes`.
[[nodiscard]] std::vector<const Pass*> fastest(const Advice& advice);

}  // namespace overlaptune
