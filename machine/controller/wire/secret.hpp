#pragma once
// Secrets, and what is computed with them (libsodium). All are text: hexadecimal digits, but for
// the secrets that users choose.

#include <initializer_list>
#include <string>
#include <string_view>

namespace overlaptune::cuda {

/// Digits of a secret that the program makes, and of a `hmac`: 256 bits.
inline constexpr std::size_t kSecretDigits = 64;

/// 256 random bits.
[[nodiscard]] std::string new_secret();

/// HMAC-SHA256 (RFC 2104) of the message, which is given in parts. Nobody can compute it without
/// the secret, and it does not tell the secret, so it also serves as a secret for one purpose.
[[nodiscard]] std::string hmac(std::string_view secret,
                               std::initializer_list<std::string_view> message);

/// Whether two texts are equal. The time that this takes does not tell where they differ.
[[nodiscard]] bool is_same(std::string_view a, std::string_view b);

}  // namespace overlaptune::cuda
