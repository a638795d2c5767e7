#include "machine/controller/wire/session.hpp"

#include "machine/controller/wire/secret.hpp"

namespace overlaptune::cuda {
namespace {

std::string code_of(std::string_view key, std::uint64_t number, std::string_view line) {
  return hmac(key, {std::to_string(number), " ", line});
}

}  // namespace

std::string Session::seal(std::string_view line) {
  std::string sealed = code_of(sending_, sent_++, line);
  sealed += line;
  return sealed;
}

std::optional<std::string> Session::open(std::string_view sealed) {
  if (sealed.size() < kSecretDigits) return std::nullopt;
  const std::string_view line = sealed.substr(kSecretDigits);
  const std::string code = code_of(receiving_, received_, line);
  if (!is_same(sealed.substr(0, kSecretDigits), code)) return std::nullopt;
  ++received_;
  return std::string(line);
}

}  // namespace overlaptune::cuda
