#pragma once
// The end of every function of a C interface: a status, and a message where it failed.

#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "include/overlaptune/overlaptune.h"

namespace overlaptune::c {

/// The exception that ends a call with a status other than OVT_OK.
struct Refusal {
  ovt_status status = OVT_ERROR_ARGUMENT;
  std::string message;
};

/// The version of the release: "0.1.0".
[[nodiscard]] const char* version() noexcept;

/// The message of this thread's last call that failed.
[[nodiscard]] const char* last_error() noexcept;

/// Stores the message for `last_error` and returns the status.
ovt_status failed(ovt_status status, std::string_view message) noexcept;

/// Runs `call` and turns what it throws into a status. `status_of(ErrorKind)` gives the status of a
/// `Failure`.
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

/// The pointer itself, for a handle, an array or an output. Throws `Refusal` where it is null or
/// unaligned.
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
