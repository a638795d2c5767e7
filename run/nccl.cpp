#include "run/nccl.hpp"

#include <cstring>
#include <dlfcn.h>

#include <fmt/format.h>

#include "run/check.hpp"

namespace overlaptune::run {
namespace {

struct Newer {
  const char* symbol;
  const char* since;
  const char* instead;
};

constexpr Newer kAllToAll{"ncclAlltoAll", "2.28", "all-to-all by sends and receives in a group"};
constexpr Newer kTeam{"ncclTeamLsa", "2.28", "peers' memory by CUDA IPC, no transport symmetric"};
constexpr Newer kPeerPointer{"ncclGetPeerDevicePointer", "2.29",
                             "peers' addresses from the windows of 2.28"};

/// The place of the library that has an address; null where none has it.
const void* library_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

/// Sets a function to the symbol of the NCCL that this library is bound to, where that has it.
/// Another one in the process, which may be found first, does not know this one's communicators.
template <class Function>
void find(const Newer& newer, Function*& function) {
  static const void* const nccl = library_of(dlsym(RTLD_DEFAULT, "ncclGetVersion"));
  void* const address = dlsym(RTLD_DEFAULT, newer.symbol);
  if (address == nullptr || library_of(address) != nccl) return;
  std::memcpy(&function, &address, sizeof address);
}

NewerNccl found() {
  NewerNccl nccl;
  OVT_CHECK(ncclGetVersion(&nccl.version));
  find(kAllToAll, nccl.all_to_all);
  find(kTeam, nccl.team_in_reach);
  find(kPeerPointer, nccl.peer_pointer);
  return nccl;
}

std::string file() {
  Dl_info info{};
  const auto address = reinterpret_cast<const void*>(&ncclGetVersion);
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "unknown file";
}

}  // namespace

const NewerNccl& newer_nccl() {
  static const NewerNccl nccl = found();
  return nccl;
}

int device_of(ncclComm_t comm) {
  int device = 0;
  OVT_CHECK(ncclCommCuDevice(comm, &device));
  return device;
}

int rank_of(ncclComm_t comm) {
  int rank = 0;
  OVT_CHECK(ncclCommUserRank(comm, &rank));
  return rank;
}

int ranks_of(ncclComm_t comm) {
  int ranks = 0;
  OVT_CHECK(ncclCommCount(comm, &ranks));
  return ranks;
}

std::string nccl_version_in_words(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::string nccl_in_words() {
  const NewerNccl& nccl = newer_nccl();
  std::string text = fmt::format("NCCL {} ({})", nccl_version_in_words(nccl.version), file());
  const auto add = [&](const Newer& newer, bool there) {
    if (there) return;
    text += fmt::format("; lacks {} of NCCL {}: {}", newer.symbol, newer.since, newer.instead);
  };
  add(kAllToAll, nccl.all_to_all != nullptr);
  add(kTeam, nccl.team_in_reach != nullptr);
  if (nccl.team_in_reach != nullptr) add(kPeerPointer, nccl.peer_pointer != nullptr);
  return text;
}

}  // namespace overlaptune::run
