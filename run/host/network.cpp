#include "run/host/network.hpp"

#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "core/nccl_variables.hpp"

namespace overlaptune::run {
namespace {

namespace fs = std::filesystem;

/// The name in a plugin's description of itself, a struct whose first member it is in every version
/// (`ncclNet_v6_t` and later ones in nccl_net.h); empty where the library is no such plugin.
std::string name_in(void* library) {
  constexpr int kNewest = 12;
  constexpr int kOldest = 6;
  for (int version = kNewest; version >= kOldest; --version) {
    const std::string symbol = fmt::format("ncclNetPlugin_v{}", version);
    if (const void* const found = dlsym(library, symbol.c_str())) {
      const char* const name = *static_cast<const char* const*>(found);
      return name == nullptr ? "" : name;
    }
  }
  return "";
}

/// The name of the network of a plugin, which is left open, as NCCL has it too.
std::string name_of(const std::string& plugin) {
  for (const std::string& file : {plugin, fmt::format("libnccl-net-{}.so", plugin)}) {
    if (void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return name_in(library);
  }
  return "";
}

/// NCCL_NET_PLUGIN lists names or files of plugins; "none" is none.
std::string plugin() {
  std::istringstream plugins(nccl_variable("NCCL_NET_PLUGIN").value_or("libnccl-net.so"));
  for (std::string each; std::getline(plugins, each, ',');) {
    if (each == "none") continue;
    if (std::string name = name_of(each); !name.empty()) return name;
  }
  return "";
}

bool is_active(const fs::path& port) {
  std::ifstream file(port / "state");  // "4: ACTIVE"
  std::string number;
  std::string state;
  return static_cast<bool>(file >> number >> state) && state == "ACTIVE";
}

bool has_active_port(const fs::path& devices) {
  std::error_code error;
  for (const auto& device : fs::directory_iterator(devices, error)) {
    for (const auto& port : fs::directory_iterator(device.path() / "ports", error)) {
      if (is_active(port.path())) return true;
    }
  }
  return false;
}

}  // namespace

NetworkFacts network_facts(const std::string& devices) {
  return {.wanted = nccl_variable("NCCL_NET").value_or(""),
          .plugin = plugin(),
          .verbs = nccl_variable("NCCL_IB_DISABLE") != "1" && has_active_port(devices)};
}

}  // namespace overlaptune::run
