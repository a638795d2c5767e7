// The constants of fitted models. They follow from the measurements, so that exports, merges and
// repairs leave them out.

#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "db/impl.hpp"
#include "db/seal.hpp"

namespace overlaptune {
namespace {

std::string fit_seal() {
  return db::seal_of(
      {"(SELECT fingerprint FROM platforms f WHERE f.id = platform_id)", "fitted_to, constants"});
}

/// A line for each fit: its name, a colon, and its constants.
std::string text_of(const FittedConstants& constants) {
  std::string text;
  for (const auto& [name, values] : constants) {
    text += name + ":";
    for (const double value : values) text += fmt::format(" {}", value);
    text += "\n";
  }
  return text;
}

/// None where the text is not one of `text_of`.
std::optional<FittedConstants> constants_of(std::string_view text) {
  FittedConstants constants;
  while (!text.empty()) {
    const auto colon = text.find(':');
    const auto end = text.find('\n');
    if (colon >= end || end == text.npos) return std::nullopt;
    std::vector<double>& values = constants[std::string(text.substr(0, colon))];
    std::string_view line = text.substr(colon + 1, end - colon - 1);
    while (!line.empty()) {
      double value = 0;
      if (line.front() != ' ') return std::nullopt;
      const auto [rest, failure] =
          std::from_chars(line.data() + 1, line.data() + line.size(), value);
      if (failure != std::errc{} || !std::isfinite(value)) return std::nullopt;
      values.push_back(value);
      line.remove_prefix(static_cast<std::size_t>(rest - line.data()));
    }
    text.remove_prefix(end + 1);
  }
  return constants;
}

}  // namespace

void Store::put_fit(PlatformId platform, const Fit& fit) {
  static const std::string insert =
      "INSERT OR REPLACE INTO fits (platform_id, fitted_to, constants) VALUES (?, ?, ?)";
  static const std::string seal =
      fmt::format("UPDATE fits SET seal = {} WHERE platform_id = ?", fit_seal());
  impl_->connection->write([&] {
    impl_->connection->query(insert)
        .bind(platform)
        .bind(static_cast<std::int64_t>(fit.fitted_to))
        .bind(text_of(fit.constants))
        .run();
    impl_->connection->query(seal).bind(platform).run();
  });
}

std::optional<Fit> Store::fit(PlatformId platform) const {
  static const std::string select = fmt::format(
      "SELECT fitted_to, constants FROM fits WHERE platform_id = ? AND seal IS {}", fit_seal());
  try {
    auto query = impl_->connection->query(select);
    query.bind(platform);
    if (!query.step()) return std::nullopt;
    const auto fitted_to = static_cast<std::uint64_t>(query.integer());
    auto constants = constants_of(query.text());
    if (!constants) return std::nullopt;
    return Fit{fitted_to, std::move(*constants)};
  } catch (const Failure& failure) {
    if (failure.kind() != ErrorKind::bad_database) throw;
    return std::nullopt;
  }
}

void Store::Impl::check_fits(const std::function<void(std::string)>& tell) const {
  static const std::string select =
      fmt::format("SELECT platform_id, seal IS {}, constants FROM fits", fit_seal());
  auto query = connection->query(select);
  while (query.step()) {
    const std::int64_t platform = query.integer();
    const bool sealed = query.integer() == 1;
    if (sealed && constants_of(query.text())) continue;
    tell(fmt::format(
        "fit of platform {}: the seal is not that of its values; `tune` and `probe` make it anew",
        platform));
  }
}

}  // namespace overlaptune
