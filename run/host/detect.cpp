#include "run/host/detect.hpp"

#include <array>
#include <unistd.h>

#include "core/device.hpp"
#include "core/nodes.hpp"
#include "run/host/inventory.hpp"

namespace overlaptune::run {
namespace {

using Text = std::array<char, 64>;

constexpr std::array kTexts{&Device::driver_version, &Device::cuda_version, &Device::nccl_version,
                            &Device::topology,       &Device::link,         &Device::network,
                            &Device::pci_bus};

/// A `PlacedDevice` as bytes, the same number on every rank. Longer texts are cut.
struct Card {
  std::array<char, 256> host{};
  Text node{};
  std::array<char, 256> model{};
  std::array<Text, kTexts.size()> texts{};
  std::int64_t memory = 0;
  double power_limit_w = 0;
  double max_sm_clock_mhz = 0;
  int sms = 0;
  int compute_capability = 0;
  int ecc = 0;
};

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

Card card_of(const Device& device) {
  Card card{.memory = device.memory.count,
            .power_limit_w = device.power_limit_w,
            .max_sm_clock_mhz = device.max_sm_clock_mhz,
            .sms = device.sms,
            .compute_capability = device.compute_capability,
            .ecc = device.ecc ? 1 : 0};
  const auto put = [](const std::string& text, auto& chars) {
    text.copy(chars.data(), chars.size() - 1);  // there is a NUL at the end
  };
  put(host_name(), card.host);
  put(this_node(), card.node);
  put(device.model, card.model);
  for (std::size_t i = 0; i < kTexts.size(); ++i) put(device.*kTexts[i], card.texts[i]);
  return card;
}

PlacedDevice placed(const Card& card) {
  PlacedDevice placed{.host = card.host.data(),
                      .node = card.node.data(),
                      .device = {.model = card.model.data(),
                                 .sms = card.sms,
                                 .compute_capability = card.compute_capability,
                                 .memory = {card.memory},
                                 .power_limit_w = card.power_limit_w,
                                 .max_sm_clock_mhz = card.max_sm_clock_mhz,
                                 .ecc = card.ecc != 0}};
  for (std::size_t i = 0; i < kTexts.size(); ++i) placed.device.*kTexts[i] = card.texts[i].data();
  return placed;
}

}  // namespace

Expected<Platform> detect_platform(World& world, int device, bool multicast_allowed) {
  const Card mine = card_of(inventory(device, Nvml(pci_bus(device))));
  std::vector<PlacedDevice> ranks;
  for (const Card& card : world.told_by_all(mine)) ranks.push_back(placed(card));
  return platform_of(ranks, multicast_allowed);
}

}  // namespace overlaptune::run
