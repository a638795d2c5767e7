#pragma once
// Two ways in which things go wrong, and the exit code that each kind ends in.

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <tl/expected.hpp>

namespace overlaptune {

/// The kind of a failure. The value is the exit code of the command line (docs/cli.md).
enum class ErrorKind {
  bad_input = 2,            ///< a wrong flag, field, file or value that the user can correct
  machine_unavailable = 3,  ///< the machine asked for is not here
  bad_database = 4,         ///< damaged, newer than this program, or not a database of overlaptune
  nothing_validated = 5,    ///< the run ended without one valid candidate
  cannot_write = 6,         ///< read-only folder, full disk
  out_of_memory = 7,        ///< too little GPU memory is free; no command ends so, only plans do
};

/// A failure that callers must expect, because of bad input or of the machine. `message` is one
/// line that names the thing at fault, what was expected, and what to do.
struct Error {
  ErrorKind kind = ErrorKind::bad_input;
  std::string message;
};

template <class T>
using Expected = tl::expected<T, Error>;

inline tl::unexpected<Error> bad_input(std::string message) {
  return tl::make_unexpected(Error{ErrorKind::bad_input, std::move(message)});
}

inline tl::unexpected<Error> unavailable(std::string message) {
  return tl::make_unexpected(Error{ErrorKind::machine_unavailable, std::move(message)});
}

/// The error of an outcome, so that a caller can return it: `if (!rows) return error_of(rows);`.
template <class T, class E>
tl::unexpected<E> error_of(const tl::expected<T, E>& outcome) {
  return tl::make_unexpected(outcome.error());
}

/// The exception for a failure of an API underneath (SQLite, CUDA, NCCL, the file system) that no
/// caller plans for. It carries a kind and a one-line message, as `Error` does.
class Failure : public std::runtime_error {
 public:
  explicit Failure(Error error) : std::runtime_error(error.message), kind_(error.kind) {}
  Failure(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

/// The value of `call()`, or the error of the `Failure` that it throws.
template <class Call>
Expected<std::invoke_result_t<const Call&>> outcome_of(const Call& call) {
  try {
    return call();
  } catch (const Failure& failure) {
    return tl::make_unexpected(Error{failure.kind(), failure.what()});
  }
}

/// The value of an outcome. Throws `Failure` with the error where there is no value.
template <class T>
T value_or_throw(Expected<T> outcome) {
  if (!outcome) throw Failure(std::move(outcome.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*outcome);
}

}  // namespace overlaptune
