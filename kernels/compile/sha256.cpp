#include "kernels/compile/sha256.hpp"

#include <sodium.h>

namespace overlaptune::kernels {

std::string sha256(std::string_view text) {
  std::string hash(crypto_hash_sha256_BYTES, '\0');
  crypto_hash_sha256(reinterpret_cast<unsigned char*>(hash.data()),
                     reinterpret_cast<const unsigned char*>(text.data()), text.size());
  return hash;
}

std::string sha256_digits(std::string_view text) {
  std::string digits(2 * crypto_hash_sha256_BYTES + 1, '\0');
  const std::string hash = sha256(text);
  sodium_bin2hex(digits.data(), digits.size(), reinterpret_cast<const unsigned char*>(hash.data()),
                 hash.size());
  digits.pop_back();
  return digits;
}

}  // namespace overlaptune::kernels
