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
    for (const auto& [table, rows] : kCountedTables) {
      info.*rows = connection.integer(fmt::format("SELECT count(*) FROM {}", table));
    }
  });
  return info;
}

}  // namespace overlaptune
