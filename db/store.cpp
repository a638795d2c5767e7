#include "db/store.hpp"

#include <fmt/format.h>

#include "db/impl.hpp"
#include "db/schema.hpp"

namespace overlaptune {

DamagedRow::DamagedRow(const std::filesystem::path& file, std::string fault)
    : Failure(ErrorKind::bad_database,
              db::about(file, fmt::format("damaged row ({}); see `overlaptune db check`", fault))),
      fault_(std::move(fault)) {}

Store::Store(const std::filesystem::path& file, Access access)
    : impl_(std::make_unique<Impl>(db::open_file(file, access))) {}
Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

DatabaseInfo Store::info() const {
  db::Connection& connection = *impl_->connection;
  DatabaseInfo info;
  info.schema_version = db::kSchemaVersion;
  connection.read([&] {
    info.platforms = connection.integer("SELECT count(*) FROM platforms");
    info.probe_runs = connection.integer("SELECT count(*) FROM probe_runs");
    info.measurements = connection.integer("SELECT count(*) FROM measurements");
    info.problems = connection.integer("SELECT count(*) FROM problems");
    info.tuning_runs = connection.integer("SELECT count(*) FROM tuning_runs");
    info.candidates = connection.integer("SELECT count(*) FROM candidates");
    info.winners = connection.integer("SELECT count(*) FROM winners");
    info.layer_gemms = connection.integer("SELECT count(*) FROM layer_gemms");
    info.phase_results = connection.integer("SELECT count(*) FROM phase_results");
  });
  return info;
}

}  // namespace overlaptune
