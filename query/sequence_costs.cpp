#include "query/sequence_costs.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "db/store.hpp"
#include "query/stored_fit.hpp"

namespace overlaptune {
namespace {

[[noreturn]] void bad_costs(const std::string& message) {
  throw Failure(ErrorKind::bad_input, message);
}

/// Whether both platforms have the same GPUs on the same links, in whatever number.
bool alike(const Platform& a, const Platform& b) {
  return a.machine == b.machine && a.gpu_model == b.gpu_model && a.link == b.link;
}

/// The chosen platform and those that differ from it in the number of GPUs; most GPUs first.
std::vector<StoredPlatform> family(const Store& store, const std::string& database,
                                   const std::string& platform) {
  std::vector<StoredPlatform> list = store.platforms();
  if (list.empty()) bad_costs(fmt::format("{}: no platform in it: expected probes", database));
  std::ranges::stable_sort(list, std::greater{},
                           [](const auto& stored) { return stored.platform.gpu_count; });
  const Platform chosen =
      platform.empty() ? list.front().platform : value_or_throw(store.platform(platform)).platform;
  if (platform.empty()) {
    for (const StoredPlatform& other : list) {
      if (alike(chosen, other.platform)) continue;
      bad_costs(fmt::format("{}: {} and {} are different GPUs or links: expected --platform NAME",
                            database, full_name(chosen), full_name(other.platform)));
    }
  }
  std::erase_if(list, [&](const auto& other) { return !alike(chosen, other.platform); });
  std::stable_partition(list.begin(), list.end(), [&](const auto& other) {
    return fingerprint(other.platform) == fingerprint(chosen);
  });
  return list;
}

}  // namespace

StoredCosts stored_costs(const std::string& database, const std::string& platform,
                         const ModelConfig& config, const MeasuredRequest& request) {
  const Store store(database, Access::read);
  const std::vector<StoredPlatform> platforms = family(store, database, platform);
  std::vector<Model> models;
  std::string names;
  for (const StoredPlatform& each : platforms) {
    const auto fit = store.fit(each.id);
    auto model = fitted_model(each.platform, store.measurements(each.id),
                              fit ? std::vector{*fit} : std::vector<Fit>{});
    if (!model && models.empty()) {
      bad_costs(
          fmt::format("{}: {}: {}", database, full_name(each.platform), model.error().message));
    }
    if (!model) continue;
    models.push_back(std::move(*model));
    names += (names.empty() ? "" : ", ") + full_name(each.platform);
  }
  return {.measured = value_or_throw(measured_costs(config, models, request)),
          .platform = platforms.front().platform,
          .names = names};
}

}  // namespace overlaptune
