#include "reports/failures.hpp"

namespace overlaptune {

Table failures(const Snapshot& snapshot) {
  Table table{.name = "failures",
              .columns = columns_of("platform, problem, launch, config, verdict, reason")};
  for (const StoredCandidate& row : snapshot.candidates) {
    const Candidate& candidate = row.candidate;
    if (candidate.verdict == Verdict::valid) continue;
    table.rows.push_back({snapshot.platform_name(row.platform), to_string(candidate.problem),
                          cell(candidate.launch), to_string(candidate.config),
                          cell(candidate.verdict), candidate.reason});
  }
  return table;
}

}  // namespace overlaptune
