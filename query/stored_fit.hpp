#pragma once
// Models from constants that a database keeps.

#include <span>
#include <string>
#include <vector>

#include "core/fit.hpp"
#include "db/store.hpp"
#include "model/model.hpp"

namespace overlaptune {

/// The model of the measurements, from the first of `stored` that was fitted to exactly these by
/// this program; where there is none, it is fitted. Error: as `Model::fit`.
[[nodiscard]] Expected<Model> fitted_model(const Platform& platform,
                                           std::span<const Measurement> measurements,
                                           std::span<const Fit> stored);

/// Stores the constants of every platform's model, except where they are stored already and where
/// the measurements are too few for a model. Throws `Failure` as `Store`.
void store_fits(Store& store);

/// A line for each stored fit that was fitted to what the database has, and whose constants are not
/// those that a new fit finds.
[[nodiscard]] std::vector<std::string> fit_faults(const Store& store);

}  // namespace overlaptune
