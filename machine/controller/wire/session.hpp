#pragma once
// The lines after a handshake. Each line carries an HMAC over its number and its text, under a key
// of this connection and this direction. So a line that another host inserts, changes, repeats or
// leaves out is noticed. The lines are not encrypted.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace overlaptune::cuda {

class Session {
 public:
  /// `sending` and `receiving` are the keys of the two directions.
  Session(std::string sending, std::string receiving)
      : sending_(std::move(sending)), receiving_(std::move(receiving)) {}

  /// The line as it is sent.
  [[nodiscard]] std::string seal(std::string_view line);
  /// The line that was sent; none if it is not the next one of this session.
  [[nodiscard]] std::optional<std::string> open(std::string_view sealed);

 private:
  std::string sending_;
  std::string receiving_;
  std::uint64_t sent_ = 0;  ///< lines so far
  std::uint64_t received_ = 0;
};

}  // namespace overlaptune::cuda
