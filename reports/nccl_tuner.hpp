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
  int default_faster = 0;  ///< sizes left out, because NCCL's choice was faster than any CTA count
};

struct NcclTunerOptions {
  Bytes from{};              ///< smallest buffer to give a rule for
  int most_ctas = kNoLimit;  ///< larger CTA counts are not considered

  static constexpr int kNoLimit = 1 << 20;
  [[nodiscard]] bool is_limited() const { return most_ctas < kNoLimit; }
};

/// The fastest CTA count of NCCL's rings for each measured size of at least `from` bytes; a rule
/// reaches to the next larger size with another one, the last rule of a collective to the largest
/// size. Where times are equal, the smaller CTA count wins. Rules leave out sizes at which NCCL's
/// own choice (0 CTAs) was faster, which the file cannot express (unless CTAs are limited, because
/// NCCL may choose more), and sizes at which a CTA count is
/// missing that the collective has at other sizes. There are none for transports other than rings,
/// nor for all_to_all, for which the file has no name.
[[nodiscard]] NcclTunerRules nccl_tuner_rules(std::span<const Measurement> measurements,
                                              const NcclTunerOptions& options);

/// The rules in the columns of the file, for any number of nodes, any pipelining, and buffers
/// registered or not.
[[nodiscard]] Table nccl_tuner_table(std::span<const NcclTunerRule> rules,
                                     const std::string& protocol);

}  // namespace overlaptune
