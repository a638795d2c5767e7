#include "machine/controller/wire/secret.hpp"

#include <array>
#include <sodium.h>

#include "core/base/error.hpp"

namespace overlaptune::cuda {
namespace {

using Bytes256 = std::array<unsigned char, crypto_auth_hmacsha256_BYTES>;
static_assert(2 * std::tuple_size_v<Bytes256> == kSecretDigits);

std::string hexadecimal(const Bytes256& bytes) {
  std::string digits(kSecretDigits + 1, '\0');
  sodium_bin2hex(digits.data(), digits.size(), bytes.data(), bytes.size());
  digits.pop_back();  // sodium ends it with a null byte
  return digits;
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string new_secret() {
  if (sodium_init() < 0) {
    throw Failure(ErrorKind::machine_unavailable, "the system gives no random numbers");
  }
  Bytes256 bytes{};
  randombytes_buf(bytes.data(), bytes.size());
  return hexadecimal(bytes);
}

std::string hmac(std::string_view secret, std::initializer_list<std::string_view> message) {
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, bytes_of(secret), secret.size());
  for (const std::string_view part : message) {
    crypto_auth_hmacsha256_update(&state, bytes_of(part), part.size());
  }
  Bytes256 code{};
  crypto_auth_hmacsha256_final(&state, code.data());
  return hexadecimal(code);
}

bool is_same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace overlaptune::cuda
