#include "abi/guard.hpp"

#include <algorithm>
#include <cstring>

namespace overlaptune::c {
namespace {

/// Of each thread, so that no other one's failure is in between. An array: it needs no memory at
/// the moment when there is none, and no destructor when the thread ends.
thread_local char last_message[1024] = "";

}  // namespace

const char* version() noexcept {
  return OVERLAPTUNE_VERSION;
}

const char* last_error() noexcept {
  return last_message;
}

ovt_status failed(ovt_status status, std::string_view message) noexcept {
  const std::size_t size = std::min(message.size(), sizeof last_message - 1);
  std::memcpy(last_message, message.data(), size);
  last_message[size] = '\0';
  return status;
}

}  // namespace overlaptune::c
