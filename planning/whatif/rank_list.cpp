// The ranks and the operation that a test of collectives names.

#include <fmt/format.h>

#include "planning/whatif/row_forms.hpp"

namespace overlaptune::cluster {

Expected<void> RankList::add(int rank, int group) {
  if (!ranks_.insert(rank).second) {
    return bad_input(fmt::format(
        "rank {} is listed twice: expected each once, of one run (built without MPI, each process "
        "of nccl-tests is a run of its own)",
        rank));
  }
  groups_.insert(group);
  return {};
}

Expected<int> RankList::gpus(int gpus_of_process) const {
  const auto count = static_cast<int>(ranks_.size());
  const int last = *ranks_.rbegin();
  constexpr const char* kInstead = "expected the whole list, or rows as CSV of op,gpus,bytes,us";
  if (last + 1 != count) {
    return bad_input(fmt::format("the list of ranks has {} of {}: {}", count, last + 1, kInstead));
  }
  if (shortened_) return bad_input(fmt::format("the list of ranks is shortened: {}", kInstead));
  if (count % gpus_of_process != 0) {
    return bad_input(fmt::format("the list of ranks has {}, processes have {} each: {}", count,
                                 gpus_of_process, kInstead));
  }
  const auto each = static_cast<int>(groups_.count(*groups_.begin()));
  for (const int group : std::set<int>(groups_.begin(), groups_.end())) {
    if (static_cast<int>(groups_.count(group)) != each) {
      return bad_input("groups of different sizes: expected one size");
    }
  }
  return each;
}

Expected<std::optional<Operation>> operation_in(std::string_view text) {
  constexpr std::pair<std::string_view, Operation> kPrograms[] = {
      {"all_reduce_perf", Operation::all_reduce},
      {"reduce_scatter_perf", Operation::reduce_scatter},
      {"all_gather_perf", Operation::all_gather},
      {"alltoall_perf", Operation::all_to_all},
      {"sendrecv_perf", Operation::send}};
  for (const auto& [program, operation] : kPrograms) {
    if (text.find(program) != std::string_view::npos) return operation;
  }
  for (const char* other : {"broadcast_perf", "reduce_perf", "scatter_perf", "gather_perf",
                            "hypercube_perf", "alltoallv_perf"}) {
    if (text.find(other) != std::string_view::npos) {
      return bad_input(
          fmt::format("{}: expected a test of all_reduce, reduce_scatter, all_gather, "
                      "alltoall or sendrecv",
                      other));
    }
  }
  return std::nullopt;
}

}  // namespace overlaptune::cluster
