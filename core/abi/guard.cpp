#include "core/abi/guard.hpp"

#include <algorithm>
#include <cstring>

namespace overlaptune::c {
namespace {

/// The last message of each thread, so that threads do not see each other's failures. It is an
/// array: it needs no allocation when memory has run out, and no destructor when the thread ends.
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
