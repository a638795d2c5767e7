#include "query/stored_fit.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace overlaptune {
namespace {

/// Whether two fits found the same constants, up to what another compiler changes.
bool agree(const FittedConstants& a, const FittedConstants& b) {
  constexpr double kRounding = 1e-6;
  const auto near = [](double x, double y) { return std::abs(x - y) <= kRounding * std::abs(y); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) {
    return x.first == y.first &&
           std::equal(x.second.begin(), x.second.end(), y.second.begin(), y.second.end(), near);
  });
}

}  // namespace

Expected<Model> fitted_model(const Platform& platform, std::span<const Measurement> measurements,
                             std::span<const Fit> stored) {
  if (stored.empty()) return Model::fit(platform, measurements);
  const std::uint64_t wanted = digest_of_fit(platform, measurements);
  const auto found = std::ranges::find(stored, wanted, &Fit::fitted_to);
  if (found == stored.end()) return Model::fit(platform, measurements);
  return Model::fit(platform, measurements, found->constants);
}

void store_fits(Store& store) {
  for (const StoredPlatform& each : store.platforms([](const DamagedRow&) {})) {
    const std::vector<Measurement> measurements = store.measurements(each.id);
    const std::uint64_t digest = digest_of_fit(each.platform, measurements);
    const auto known = store.fit(each.id);
    if (known && known->fitted_to == digest) continue;
    const auto model = Model::fit(each.platform, measurements);
    if (model) store.put_fit(each.id, {.fitted_to = digest, .constants = model->constants()});
  }
}

std::vector<std::string> fit_faults(const Store& store) {
  std::vector<std::string> faults;
  for (const StoredPlatform& each : store.platforms([](const DamagedRow&) {})) {
    const auto known = store.fit(each.id);
    if (!known) continue;
    const std::vector<Measurement> measurements = store.measurements(each.id);
    if (known->fitted_to != digest_of_fit(each.platform, measurements)) continue;
    const auto model = Model::fit(each.platform, measurements);
    if (model && agree(known->constants, model->constants())) continue;
    faults.push_back(
        fmt::format("fit of {}: its constants are not those that a fit finds; `tune` and `probe` "
                    "make it anew",
                    full_name(each.platform)));
  }
  return faults;
}

}  // namespace overlaptune
