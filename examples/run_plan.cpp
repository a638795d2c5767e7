// Asks a database how to run a GEMM and its reduce-scatter on these GPUs, and runs them that way.
//
//     g++ -std=c++20 run_plan.cpp -o run_plan -loverlaptune-run -loverlaptune -lnccl -lcudart
//     torchrun --no-python --nproc-per-node 8 ./run_plan cluster.db /tmp/new-file
//
// Any launcher that sets RANK, WORLD_SIZE and LOCAL_RANK will do. The ranks meet through a file
// that all of them can see and that does not exist yet.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <overlaptune/overlaptune.hpp>
#include <overlaptune/run.h>
#include <string>
#include <thread>

namespace {

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "run_plan: %s\n", what);
  std::exit(1);
}

void check(cudaError_t code) {
  if (code != cudaSuccess) fail(cudaGetErrorString(code));
}
void check(ncclResult_t code) {
  if (code != ncclSuccess) fail(ncclGetErrorString(code));
}
void check(ovt_status status) {
  if (status != OVT_OK) fail(ovt_run_last_error());
}

int variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) fail("expected RANK, WORLD_SIZE and LOCAL_RANK in the environment");
  return std::atoi(value);
}

ncclComm_t communicator(int rank, int ranks, const std::string& file) {
  ncclUniqueId id;
  if (rank == 0) {
    check(ncclGetUniqueId(&id));
    std::ofstream(file + ".part", std::ios::binary).write(id.internal, sizeof id.internal);
    std::filesystem::rename(file + ".part", file);
  }
  for (int tries = 0; !std::filesystem::exists(file); ++tries) {
    if (tries == 600) fail("rank 0 has not told where to meet for a minute");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  std::ifstream(file, std::ios::binary).read(id.internal, sizeof id.internal);
  ncclComm_t comm = nullptr;
  check(ncclCommInitRank(&comm, ranks, id, rank));
  if (rank == 0) std::filesystem::remove(file);
  return comm;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) fail("expected a database and a file to meet by");
  setenv("NCCL_NVLS_ENABLE", "0", 1);  // no NVLink multicast, as in tuning
  const int rank = variable("RANK");
  const int ranks = variable("WORLD_SIZE");
  check(cudaSetDevice(variable("LOCAL_RANK")));
  const ncclComm_t comm = communicator(rank, ranks, argv[2]);

  ovt_world* world = nullptr;
  check(ovt_world_create(comm, nullptr, &world));
  ovt_platform platform{};
  platform.size = sizeof platform;
  check(ovt_platform_detect(world, &platform));
  // Llama-3-70B's down projection on 4096 tokens, sequence-parallel.
  const ovt_problem problem =
      ovt::problem(OVT_GEMM_REDUCE_SCATTER, 4096, 8192, 28672 / ranks, OVT_BF16, ranks);
  const ovt_answer answer = ovt::Database({argv[1]}, &platform).query(problem);

  ovt_sizes sizes{};
  sizes.size = sizeof sizes;
  check(ovt_plan_sizes(&problem, answer.config, &sizes));
  check(ovt_world_reserve(world, sizes.shared_bytes));
  ovt_plan* plan = nullptr;
  check(ovt_plan_create(world, &problem, answer.config, &plan));

  void* a = nullptr;
  void* b = nullptr;
  void* c = nullptr;
  check(cudaMalloc(&a, static_cast<std::size_t>(sizes.a_bytes)));
  check(cudaMalloc(&b, static_cast<std::size_t>(sizes.b_bytes)));
  check(cudaMalloc(&c, static_cast<std::size_t>(sizes.c_bytes)));
  check(cudaMemset(a, 0, static_cast<std::size_t>(sizes.a_bytes)));  // a real program has data here
  check(cudaMemset(b, 0, static_cast<std::size_t>(sizes.b_bytes)));
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  check(ovt_plan_run(plan, a, b, c, stream));
  check(cudaStreamSynchronize(stream));
  if (rank == 0) std::printf("%s: ran; %s\n", platform.name, answer.reason);

  ovt_plan_destroy(plan);
  check(ovt_world_destroy(world));
  for (void* const memory : {a, b, c}) check(cudaFree(memory));
  check(cudaStreamDestroy(stream));
  check(ncclCommDestroy(comm));
} catch (const std::exception& error) {
  fail(error.what());
}
