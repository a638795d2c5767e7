#include "machine/controller/launch/job_secret.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/base/environment.hpp"
#include "core/base/own_file.hpp"
#include "machine/controller/wire/secret.hpp"

namespace overlaptune::cuda {
namespace {

namespace fs = std::filesystem;

/// The error if this secret can be guessed: 16 random letters and digits have more than 80 bits.
Expected<std::string> checked(const std::string& where, const std::string& secret) {
  constexpr std::size_t kShortest = 16;
  if (secret.size() >= kShortest) return secret;
  return bad_input(fmt::format(
      "{}: a secret of {} characters; expected at least {}, as `openssl rand -hex 32` prints them",
      where, secret.size(), kShortest));
}

fs::path secret_file(const Variables& variables) {
  if (const auto named = environment(variables).secret_file) return *named;
  const fs::path folder = own_folder(variables, "XDG_CONFIG_HOME", ".config");
  return folder.empty() ? folder : folder / "secret";
}

/// Empty if there is no file.
Expected<std::string> read_secret(const fs::path& file) {
  constexpr std::uint64_t kLongest = 4096;
  const auto content = read_own_file(file, kOthersMayReadOrWrite, kLongest);
  if (!content) return error_of(content);
  if (!*content) return "";
  return checked(file.string(), **content);
}

/// The secret in a file, which is made if there is none. Empty, with a warning, if it cannot be
/// made.
Expected<std::string> make_secret(const fs::path& file) {
  auto there = read_secret(file);
  if (!there || !there->empty()) return there;
  int failure = make_own_folder(file.parent_path());
  if (failure == 0) failure = write_own_file(file, new_secret(), IfThere::keep);
  if (failure == 0 || failure == EEXIST) return read_secret(file);
  spdlog::warn("{}: cannot be made: {}", file.string(), std::strerror(failure));
  return "";
}

}  // namespace

Expected<void> find_secret(LaunchEnvironment& launch, const Variables& variables) {
  if (launch.launcher == Launcher::plain) return {};
  auto secret = Expected<std::string>(launch.secret);
  if (const auto given = environment(variables).secret) {
    secret = checked(std::string("environment variable ") + kSecretVariable, *given);
  } else if (secret->empty()) {
    launch.secret_file = secret_file(variables).string();
    if (!launch.secret_file.empty()) {
      secret = launch.rank == 0 ? make_secret(launch.secret_file) : read_secret(launch.secret_file);
    }
  }
  if (!secret) return error_of(secret);
  launch.secret = std::move(*secret);
  return {};
}

Expected<std::string> job_secret(const LaunchEnvironment& launch) {
  auto secret = Expected<std::string>(launch.secret);
  if (secret->empty() && !launch.secret_file.empty()) secret = read_secret(launch.secret_file);
  if (!secret) return secret;
  return hmac(*secret, {"job ", launch.job});
}

}  // namespace overlaptune::cuda
