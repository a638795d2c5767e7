#include "tests/gpu/plan_check/rank_process.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <poll.h>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "core/base/error.hpp"
#include "core/gpu_sharing.hpp"
#include "run/check.hpp"

namespace overlaptune::plan_check {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kMostGpus = 8;

/// Starts a child that runs `body` and exits with its return value. It does not outlive its parent.
template <class Body>
pid_t forked(const Body& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int code = 1;
  try {
    code = body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "plan_check: %s\n", error.what());
  }
  std::fflush(nullptr);
  _exit(code);  // without the end of CUDA, which may hang
}

int exit_code(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

void kill_all(const std::vector<pid_t>& children) {
  for (const pid_t child : children) {
    if (child > 0) kill(child, SIGKILL);
  }
}

/// Waits until all have ended. Kills the others where one fails, or none makes a step.
int wait_for(std::vector<pid_t> children, const std::atomic<int>& steps,
             std::chrono::seconds patience) {
  int worst = 0;
  int seen = steps;
  Clock::time_point moved = Clock::now();
  std::size_t left = children.size();
  while (left > 0) {
    for (pid_t& child : children) {
      int status = 0;
      if (child <= 0 || waitpid(child, &status, WNOHANG) != child) continue;
      child = 0;
      --left;
      worst = std::max(worst, exit_code(status));
      if (!WIFEXITED(status)) std::fprintf(stderr, "plan_check: a process was killed\n");
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) kill_all(children);
    }
    if (steps != seen) moved = Clock::now();
    seen = steps;
    if (Clock::now() - moved > patience) {
      std::fprintf(stderr, "plan_check: nothing has moved for %d s\n",
                   static_cast<int>(patience.count()));
      kill_all(children);
      moved = Clock::now();
      worst = 1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return worst;
}

/// NCCL takes the process for one of this node, and reaches other nodes by sockets.
void pose_as_node(int node) {
  setenv("NCCL_HOSTID", ("overlaptune-node-" + std::to_string(node)).c_str(), 1);
  setenv("NCCL_NET", "Socket", 1);
}

}  // namespace

int gpu_count() {
  const pid_t child = forked([] {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? std::min(count, kMostGpus) : 0;
  });
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status)
                                                                               : 0;
}

ncclComm_t RankProcess::join() const {
  OVT_CHECK(cudaSetDevice(device()));
  ncclUniqueId id{};
  if (rank_ == 0) {
    OVT_CHECK(ncclGetUniqueId(&id));
    for (int other = 1; other < ranks(); ++other) {  // in one piece each
      if (write(to_others_, &id, sizeof id) != sizeof id) {
        throw Failure(ErrorKind::machine_unavailable, "the pipe between the ranks is broken");
      }
    }
  } else {
    pollfd ready{.fd = from_first_, .events = POLLIN, .revents = 0};
    const int wait_ms = static_cast<int>(std::chrono::milliseconds(placement_.patience()).count());
    if (poll(&ready, 1, wait_ms) != 1 || read(from_first_, &id, sizeof id) != sizeof id) {
      throw Failure(ErrorKind::machine_unavailable, "rank 0 did not tell where to meet");
    }
  }
  ncclComm_t comm = nullptr;
  OVT_CHECK(ncclCommInitRank(&comm, ranks(), id, rank_));
  step();
  return comm;
}

int run_ranks(const Placement& placement, const std::function<int(const RankProcess&)>& body) {
  std::array<int, 2> ends{};
  void* const shared = mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (pipe(ends.data()) != 0 || shared == MAP_FAILED) return 1;
  auto* const steps = new (shared) std::atomic<int>(0);
  std::vector<pid_t> children;
  children.reserve(static_cast<std::size_t>(placement.ranks()));
  for (int rank = 0; rank < placement.ranks(); ++rank) {
    children.push_back(forked([&] {
      if (placement.shares_gpus()) {
        for (const auto& [name, value] : variables_of_sharing_rank(rank)) {
          setenv(name.c_str(), value.c_str(), 1);
        }
      }
      if (placement.nodes > 1) pose_as_node(rank / placement.ranks_per_node());
      return body(RankProcess(rank, placement, ends[0], ends[1], steps));
    }));
  }
  return wait_for(std::move(children), *steps, placement.patience());
}

}  // namespace overlaptune::plan_check
