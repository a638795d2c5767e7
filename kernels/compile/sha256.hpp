#pragma once
// SHA-256 (FIPS 180-4), by libsodium.

#include <string>
#include <string_view>

namespace overlaptune::kernels {

/// The hash of a text, as 32 bytes.
[[nodiscard]] std::string sha256(std::string_view text);

/// The hash of a text, as 64 hexadecimal digits.
[[nodiscard]] std::string sha256_digits(std::string_view text);

}  // namespace overlaptune::kernels
