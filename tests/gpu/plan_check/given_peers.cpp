#include "tests/gpu/plan_check/given_peers.hpp"

namespace overlaptune::plan_check {

GivenPeers::GivenPeers(ncclComm_t comm, int rank, int ranks, std::int64_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  own_ = run::device_memory(static_cast<std::size_t>(bytes));
  std::vector<cudaIpcMemHandle_t> handles(static_cast<std::size_t>(ranks));
  cudaIpcMemHandle_t& mine = handles[static_cast<std::size_t>(rank)];
  OVT_CHECK(cudaIpcGetMemHandle(&mine, own_.get()));
  constexpr std::size_t kOne = sizeof(cudaIpcMemHandle_t);
  const run::DeviceMemory all = run::device_memory(handles.size() * kOne);
  const run::Stream stream = run::make_stream();
  auto* const slot = static_cast<std::byte*>(all.get()) + static_cast<std::size_t>(rank) * kOne;
  OVT_CHECK(cudaMemcpyAsync(slot, &mine, kOne, cudaMemcpyHostToDevice, stream.get()));
  OVT_CHECK(ncclAllGather(slot, all.get(), kOne, ncclInt8, comm, stream.get()));
  OVT_CHECK(cudaMemcpyAsync(handles.data(), all.get(), handles.size() * kOne,
                            cudaMemcpyDeviceToHost, stream.get()));
  OVT_CHECK(cudaStreamSynchronize(stream.get()));
  for (int peer = 0; peer < ranks; ++peer) {
    void* address = own_.get();
    if (peer != rank) {
      OVT_CHECK(cudaIpcOpenMemHandle(&address, handles[static_cast<std::size_t>(peer)],
                                     cudaIpcMemLazyEnablePeerAccess));
      mappings_.emplace_back(address);
    }
    peers_.push_back(address);
  }
}

ovt_world_options GivenPeers::options() const {
  ovt_world_options options{};
  options.size = sizeof options;
  options.peers = peers_.empty() ? nullptr : peers_.data();
  options.peer_bytes = bytes_;
  return options;
}

}  // namespace overlaptune::plan_check
