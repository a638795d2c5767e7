#pragma once
// Measured collectives as rules in the file that NCCL's example tuner plugin reads (NCCL's sources,
// ext-tuner/example/README.md; plugins/tuner/example in later releases).

#include <span>
#include <vector>

#include "core/measurement.hpp"
#include "reports/table.hpp"

namespace overlaptune {

/// For buffers of `least` to `most` bytes, both included, `channels` CTAs were the fastest.
struct NcclTunerRule {
  Collective collective = Collective::all_reduce;
  int ranks = 0;
  Bytes least{};
  Bytes most{};
  int channels = 0;
  friend bool operator==(const NcclTunerRule&, const NcclTunerRule&) = default;
};

struct NcclTunerRules {
  std::vector<NcclTunerRule> rules{};
  int sizes = 0;           ///< measured sizes that the rules cover, of all collectives
  int default_faster = 0;  ///< sizes at which NCCL's choice was faster than every CTA count
};

struct NcclTunerOptions {
  Bytes from{};             ///< smallest buffer to give a rule for
  int most_ctas = 1 << 20;  ///< larger CTA counts are not considered
};

/// The fastest CTA count of NCCL's rings for each measured size of at least `from` bytes; a rule
/// reaches to the next larger size with another one, the last rule of a collective to the largest
/// size. Where times are equal, the smaller CTA count wins. Rules leave out sizes at which a CTA
/// count is missing that the collective has at other sizes, transports other than rings, and
/// all_to_all, for which the file has no name. NCCL's choice (0 CTAs) gives no rule, because the
/// file cannot express it.
[[nodiscard]] NcclTunerRules nccl_tuner_rules(std::span<const Measurement> measurements,
                                              const NcclTunerOptions& options);

/// The rules in the columns of the file, for any number of nodes, any pipelining, and buffers
/// registered or not.
[[nodiscard]] Table nccl_tuner_table(std::span<const NcclTunerRule> rules,
                                     const std::string& protocol);

}  // namespace overlaptune
