#pragma once
// How a function of a C interface ends: with a status, and a text where it failed.

#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/error.hpp"
#include "include/overlaptune/overlaptune.h"

namespace overlaptune::c {

/// What a call ends with that is not OVT_OK.
struct Refusal {
  ovt_status status = OVT_ERROR_ARGUMENT;
  std::string message;
};

/// Of the program's release: "0.1.0".
[[nodiscard]] const char* version() noexcept;

/// Of this thread's last call that failed.
[[nodiscard]] const char* last_error() noexcept;

/// Remembers the message, and gives the status back.
ovt_status failed(ovt_status status, std::string_view message) noexcept;

/// Runs it; what it throws becomes a status. `status_of(ErrorKind)`: that of our own failures.
template <class Call, class StatusOf>
ovt_status guarded(const StatusOf& status_of, const Call& call) noexcept {
  try {
    call();
    return OVT_OK;
  } catch (const Refusal& refusal) {
    return failed(refusal.status, refusal.message);
  } catch (const Failure& failure) {
    return failed(status_of(failure.kind()), failure.what());
  } catch (const std::bad_alloc&) {
    return failed(OVT_ERROR_MEMORY, "out of memory; nothing was changed");
  } catch (const std::exception& error) {
    return failed(OVT_ERROR_INTERNAL, error.what());
  } catch (...) {
    return failed(OVT_ERROR_INTERNAL, "an error of unknown kind");
  }
}

/// A handle, an array or the place for an output. Throws `Refusal`: null or unaligned.
template <class T>
T* present(T* pointer, const char* name) {
  if (pointer == nullptr) throw Refusal{OVT_ERROR_ARGUMENT, fmt::format("{}: NULL", name)};
  if (reinterpret_cast<std::uintptr_t>(pointer) % alignof(T) != 0) {
    throw Refusal{OVT_ERROR_ARGUMENT,
                  fmt::format("{}: expected a pointer aligned to {} bytes", name, alignof(T))};
  }
  return pointer;
}

}  // namespace overlaptune::c
