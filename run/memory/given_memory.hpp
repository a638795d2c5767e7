#pragma once
// Memory that the caller gives, with its addresses at all ranks: PyTorch's symmetric memory, or a
// pool of another library. It may come from any allocator, and NCCL has no part in it.

#include <optional>
#include <string>

#include "run/memory/peer_memory.hpp"
#include "run/world.hpp"

namespace overlaptune::run {

/// The reason why memory that CUDA describes so cannot be a rank's part; empty where it may be.
/// `own_gpu`: the GPU of this rank, if the part is its own.
[[nodiscard]] std::string objection_to(const cudaPointerAttributes& memory,
                                       std::optional<int> own_gpu);

/// Asks CUDA about the first and the last word of each part of the options, on the current GPU, so
/// that no kernel is the first to find a wrong address. Throws `Failure` (`bad_input`).
void check_given(const WorldOptions& options, int rank, int gpu);

class GivenMemory : public PeerMemory {
 public:
  /// `world.options().peers` has an address for each rank.
  explicit GivenMemory(World& world) : world_(world) {}

  [[nodiscard]] std::byte* memory() const override { return used_ ? of(world_.rank()) : nullptr; }
  /// Takes the first part of the caller's memory. Error (`bad_input`): it is smaller.
  [[nodiscard]] Expected<void> allocate(std::size_t bytes) override;
  /// Looks whether the addresses are those of the peers' memory. Error: one of them is not.
  [[nodiscard]] Expected<void> open() override;
  [[nodiscard]] std::vector<void*> attach(ncclComm_t communicator, bool maps) override;
  [[nodiscard]] std::size_t room(std::size_t /*free*/) const override;
  [[nodiscard]] const char* room_is() const override {
    return "are given by ovt_world_options.peer_bytes";
  }
  [[nodiscard]] std::string out_of_reach() const override;
  [[nodiscard]] std::string not_symmetric() const override;
  void detach() override {}
  void forget() override {}
  void free() override { used_ = false; }
  [[nodiscard]] std::shared_ptr<void> keeper() const override { return nullptr; }
  [[nodiscard]] std::unique_ptr<PeerMemory> another() const override { return nullptr; }

 private:
  [[nodiscard]] std::byte* of(int rank) const;
  [[nodiscard]] Expected<void> look(int peer) const;

  World& world_;
  bool used_ = false;
};

}  // namespace overlaptune::run
