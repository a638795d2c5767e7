#pragma once
// Two ways in which things go wrong, and the exit code that each kind ends in.

#include <stdexcept>
#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace overlaptune {

/// What kind of thing went wrong. The value is the exit code of the command line (docs/cli.md).
enum class ErrorKind {
  bad_input = 2,            ///< a wrong flag, field, file or value that the user can correct
  machine_unavailable = 3,  ///< the machine asked for is not here
  bad_database = 4,         ///< damaged, newer than this program, or not a database of ours
  nothing_validated = 5,    ///< the run ended without one valid candidate
  cannot_write = 6,         ///< read-only folder, full disk
};

/// An outcome to be expected of bad input or of the world; `message` is one line that names the
/// thing, what was expected, and what to do.
struct Error {
  ErrorKind kind = ErrorKind::bad_input;
  std::string message;
};

template <class T>
using Expected = tl::expected<T, Error>;

inline tl::unexpected<Error> bad_input(std::string message) {
  return tl::make_unexpected(Error{ErrorKind::bad_input, std::move(message)});
}

/// A failure of an API underneath (SQLite, CUDA, NCCL, the file system) that no caller plans for;
/// carries the same kind and one-line message, thrown.
class Failure : public std::runtime_error {
 public:
  explicit Failure(Error error) : std::runtime_error(error.message), kind_(error.kind) {}
  Failure(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

/// The value, or a `Failure` thrown with the error: for callers that have no better answer.
template <class T>
T value_or_throw(Expected<T> outcome) {
  if (!outcome) throw Failure(std::move(outcome.error()));
  return std::move(*outcome);
}

}  // namespace overlaptune
