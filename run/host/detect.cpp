#include "run/host/detect.hpp"

#include <array>
#include <cstring>
#include <unistd.h>

#include "core/device.hpp"
#include "core/nodes.hpp"
#include "run/host/inventory.hpp"

namespace overlaptune::run {
namespace {

using Text = std::array<char, 64>;

/// A `PlacedDevice` as bytes, the same number on every rank. Longer texts are cut.
struct Card {
  std::array<char, 256> host{};
  Text node{};
  std::array<char, 256> model{};
  Text driver_version{};
  Text cuda_version{};
  Text nccl_version{};
  Text topology{};
  Text link{};
  Text network{};
  Text pci_bus{};
  std::int64_t memory = 0;
  double power_limit_w = 0;
  double max_sm_clock_mhz = 0;
  int sms = 0;
  int compute_capability = 0;
  int ecc = 0;
};

template <std::size_t size>
std::array<char, size> card_text(const std::string& text) {
  std::array<char, size> chars{};
  text.copy(chars.data(), size - 1);
  return chars;
}

template <std::size_t size>
std::string text_of(const std::array<char, size>& chars) {
  return chars.data();  // there is a NUL at the end
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

Card card_of(const Device& device) {
  return {.host = card_text<256>(host_name()),
          .node = card_text<64>(this_node()),
          .model = card_text<256>(device.model),
          .driver_version = card_text<64>(device.driver_version),
          .cuda_version = card_text<64>(device.cuda_version),
          .nccl_version = card_text<64>(device.nccl_version),
          .topology = card_text<64>(device.topology),
          .link = card_text<64>(device.link),
          .network = card_text<64>(device.network),
          .pci_bus = card_text<64>(device.pci_bus),
          .memory = device.memory.count,
          .power_limit_w = device.power_limit_w,
          .max_sm_clock_mhz = device.max_sm_clock_mhz,
          .sms = device.sms,
          .compute_capability = device.compute_capability,
          .ecc = device.ecc ? 1 : 0};
}

PlacedDevice placed(const Card& card) {
  return {.host = text_of(card.host),
          .node = text_of(card.node),
          .device = {.model = text_of(card.model),
                     .sms = card.sms,
                     .compute_capability = card.compute_capability,
                     .memory = {card.memory},
                     .driver_version = text_of(card.driver_version),
                     .cuda_version = text_of(card.cuda_version),
                     .nccl_version = text_of(card.nccl_version),
                     .topology = text_of(card.topology),
                     .link = text_of(card.link),
                     .network = text_of(card.network),
                     .pci_bus = text_of(card.pci_bus),
                     .power_limit_w = card.power_limit_w,
                     .max_sm_clock_mhz = card.max_sm_clock_mhz,
                     .ecc = card.ecc != 0}};
}

}  // namespace

Expected<Platform> detect_platform(World& world, int device, bool multicast_allowed) {
  const Card mine = card_of(inventory(device, Nvml(pci_bus(device))));
  const auto bytes = world.gathered(std::as_bytes(std::span(&mine, 1)));
  std::vector<PlacedDevice> ranks;
  ranks.reserve(static_cast<std::size_t>(world.ranks()));
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Card)) {
    Card card;
    std::memcpy(&card, bytes.data() + at, sizeof card);
    ranks.push_back(placed(card));
  }
  return platform_of(ranks, multicast_allowed);
}

}  // namespace overlaptune::run
