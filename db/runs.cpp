// Platforms, and the runs that measured on them.

#include <algorithm>
#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "db/impl.hpp"

namespace overlaptune {

using db::Query;

namespace {

constexpr std::string_view table_of(RunKind kind) {
  return kind == RunKind::probe ? "probe_runs" : "tuning_runs";
}

/// A new uid. It comes from the system, because SQLite's generator gives a forked process the same
/// numbers as its parent.
std::string new_uid() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

std::string select_runs(RunKind kind) {
  return fmt::format(
      "SELECT r.id, p.id, platform_id, uid, finished_at, {}, {}, EXISTS (SELECT 1 FROM {} o WHERE "
      "o.provenance_id = p.id) FROM {} r JOIN provenance p ON p.id = r.provenance_id",
      db::kProvenanceColumns, kind == RunKind::tuning ? "request" : "''",
      table_of(kind == RunKind::tuning ? RunKind::probe : RunKind::tuning), table_of(kind));
}

StoredRun read_run(Query& query) {
  StoredRun run;
  query.read(run.id, run.number, run.platform, run.uid, run.finished_at);
  run.provenance = db::read_fields<Provenance>(query, db::kProvenanceFields);
  query.read(run.request);
  if (query.integer() != 0) query.damaged("run " + run.uid + " is of both kinds");
  return run;
}

/// The full name, with the fingerprint behind it where others have the same one.
std::string distinct_name(const StoredPlatform& stored, const std::vector<StoredPlatform>& all) {
  const std::string name = full_name(stored.platform);
  const auto namesakes = std::count_if(all.begin(), all.end(), [&](const StoredPlatform& other) {
    return full_name(other.platform) == name;
  });
  return namesakes == 1 ? name : fmt::format("{} ({})", name, fingerprint(stored.platform));
}

/// Tells in which fields platforms of one name differ. There are two or more.
std::string namesakes(const std::vector<StoredPlatform>& all) {
  const auto fields = differences(all[0].platform, all[1].platform);
  return fmt::format("several have this name ({} and {} differ in {})",
                     fingerprint(all[0].platform), fingerprint(all[1].platform),
                     fmt::join(fields, "; "));
}

const std::string& select_platforms() {
  static const std::string sql =
      fmt::format("SELECT id, fingerprint, {} FROM platforms ORDER BY id", db::platform_columns());
  return sql;
}

StoredPlatform read_platform_row(Query& query) {
  const PlatformId id = query.integer();
  const std::string print = query.text();
  StoredPlatform stored{id, db::read_platform(query)};
  // With a changed field, its results would be used for another platform.
  if (print != fingerprint(stored.platform)) {
    query.damaged(fmt::format("the fields of platform {} do not give its fingerprint", id));
  }
  return stored;
}

}  // namespace

db::Complaint complaint(const StoredRun& run) {
  if (auto wrong = db::uid_complaint(run.uid)) return wrong;
  if (auto wrong = db::complaint(run.provenance)) return wrong;
  if (run.finished_at) return db::time_complaint("finished_at", *run.finished_at);
  return std::nullopt;
}

PlatformId Store::Impl::insert_platform(const Platform& platform) {
  static const std::string insert =
      db::insert_sql("platforms", "fingerprint", db::platform_columns()).keep;
  static const std::string select = "SELECT id FROM platforms WHERE fingerprint = ?";
  const std::string print = fingerprint(platform);
  refuse_if(db::complaint(platform), "platform");
  {
    auto query = connection->query(insert);
    query.bind(print);
    db::put_fields(query, kPlatformFields, platform);
    query.run();
  }
  auto query = connection->query(select);
  query.bind(print);
  if (!query.step()) query.damaged("a platform that was just added is missing");
  return query.integer();
}

std::int64_t Store::Impl::insert_run(RunKind kind, StoredRun run) {
  static const std::string find = "SELECT id FROM provenance WHERE uid = ?";
  if (run.uid.empty()) run.uid = new_uid();
  if (run.provenance.started_at.empty()) run.provenance.started_at = db::utc_now();
  refuse_if(complaint(run), fmt::format("run {}", run.uid));
  static const std::string insert_provenance = fmt::format(
      "INSERT INTO provenance (id, uid, {}) VALUES (?, ?, ?, ?, ?, ?, ?)", db::kProvenanceColumns);
  {
    auto query = connection->query(find);
    query.bind(run.uid);
    if (query.step()) {
      const auto update = fmt::format(
          "UPDATE {} SET finished_at = coalesce(finished_at, ?) WHERE provenance_id = ? RETURNING "
          "id",
          table_of(kind));
      auto present = connection->query(update);
      present.bind(run.finished_at).bind(query.integer());
      if (!present.step()) {
        throw Failure(
            ErrorKind::bad_input,
            db::about(connection->file(),
                      fmt::format("run {} is a probe run in one database and a tuning run "
                                  "in the other; one of them was edited",
                                  run.uid)));
      }
      return present.integer();
    }
  }
  {
    auto query = connection->query(insert_provenance);
    query.bind(run.number).bind(run.uid);
    db::put_fields(query, db::kProvenanceFields, run.provenance);
    query.run();
  }
  const auto provenance = connection->last_id();
  const bool tuning = kind == RunKind::tuning;
  auto query = connection->query(
      fmt::format("INSERT INTO {} (platform_id, provenance_id, finished_at{}) VALUES (?, ?, ?{})",
                  table_of(kind), tuning ? ", request" : "", tuning ? ", ?" : ""));
  query.bind(run.platform).bind(provenance).bind(run.finished_at);
  if (tuning) query.bind(run.request);
  query.run();
  return connection->last_id();
}

std::int64_t Store::Impl::begin(RunKind kind, StoredRun run) {
  std::int64_t id = 0;
  run.provenance = db::cleaned(std::move(run.provenance));
  connection->write([&] { id = insert_run(kind, std::move(run)); });
  return id;
}

void Store::Impl::finish(RunKind kind, std::int64_t run) {
  const std::string sql = fmt::format(
      "UPDATE {} SET finished_at = coalesce(finished_at, ?) WHERE id = ?", table_of(kind));
  connection->write([&] { connection->query(sql).bind(db::utc_now()).bind(run).run(); });
}

void Store::Impl::each_platform(const std::function<void(const StoredPlatform&)>& visit) const {
  auto query = connection->query(select_platforms());
  for_rows(query, read_platform_row, visit);
}

void Store::Impl::each_run(RunKind kind, const std::function<void(const StoredRun&)>& visit) const {
  auto query = connection->query(select_runs(kind) + " ORDER BY p.id");
  for_rows(query, read_run, visit);
}

PlatformId Store::add_platform(const Platform& platform) {
  PlatformId id = 0;
  impl_->connection->write([&] { id = impl_->insert_platform(platform); });
  return id;
}

std::vector<StoredPlatform> Store::platforms(
    const std::function<void(const DamagedRow&)>& damaged) const {
  auto query = impl_->connection->query(select_platforms());
  std::vector<StoredPlatform> list;
  while (query.step()) {
    try {
      list.push_back(read_platform_row(query));
    } catch (const DamagedRow& row) {
      if (!damaged) throw;
      damaged(row);
    }
  }
  return list;
}

Expected<StoredPlatform> Store::platform(std::string_view name_or_fingerprint) const {
  std::optional<DamagedRow> damaged;
  const auto all = platforms([&](const DamagedRow& row) { damaged = row; });
  for (const auto& stored : all) {
    if (fingerprint(stored.platform) == name_or_fingerprint) return stored;
  }
  if (damaged) throw DamagedRow(*damaged);  // it may be the one that is meant
  std::vector<StoredPlatform> fitting;
  std::string known;
  for (const auto& stored : all) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", distinct_name(stored, all));
    if (name_or_fingerprint.empty() || is_named(stored.platform, name_or_fingerprint)) {
      fitting.push_back(stored);
    }
  }
  if (fitting.size() == 1) return fitting.front();
  if (all.empty()) {
    return bad_input(db::about(impl_->connection->file(),
                               "holds no platform yet; run `overlaptune probe` or `tune` first"));
  }
  if (name_or_fingerprint.empty()) {
    return bad_input(fmt::format("platform: several are stored; name one of {}", known));
  }
  return bad_input(fmt::format("platform '{}': {}; expected one of {}", name_or_fingerprint,
                               fitting.empty() ? "not stored" : namesakes(fitting), known));
}

Expected<StoredPlatform> Store::platform(const Platform& own) const {
  std::optional<DamagedRow> damaged;
  const auto all = platforms([&](const DamagedRow& row) { damaged = row; });
  std::string known;
  for (const auto& stored : all) {
    if (fingerprint(stored.platform) == fingerprint(own)) return stored;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", full_name(stored.platform));
  }
  if (damaged) throw DamagedRow(*damaged);  // it may be the one that is meant
  const std::string name = full_name(own);
  for (const auto& stored : all) {
    if (full_name(stored.platform) != name) continue;
    return bad_input(db::about(impl_->connection->file(),
                               fmt::format("its {} is not the one here: {}", name,
                                           fmt::join(differences(own, stored.platform), "; "))));
  }
  return bad_input(
      db::about(impl_->connection->file(), fmt::format("has nothing of {}; it has {}", name,
                                                       known.empty() ? "no platform yet" : known)));
}

ProbeRunId Store::begin_probe_run(PlatformId platform, const Provenance& provenance) {
  return impl_->begin(RunKind::probe, {.platform = platform, .provenance = provenance});
}

void Store::finish_probe_run(ProbeRunId run) {
  impl_->finish(RunKind::probe, run);
}

TuningRunId Store::begin_tuning_run(PlatformId platform, std::string_view request,
                                    const Provenance& provenance) {
  return impl_->begin(
      RunKind::tuning,
      {.platform = platform, .provenance = provenance, .request = std::string(request)});
}

void Store::finish_tuning_run(TuningRunId run) {
  impl_->finish(RunKind::tuning, run);
}

std::optional<TuningRun> Store::last_tuning_run(PlatformId platform) const {
  auto query = impl_->connection->query(select_runs(RunKind::tuning) +
                                        " WHERE platform_id = ? ORDER BY p.id DESC LIMIT 1");
  query.bind(platform);
  if (!query.step()) return std::nullopt;
  StoredRun run = read_run(query);
  return TuningRun{run.id, run.platform, std::move(run.request), run.finished_at.has_value(),
                   std::move(run.provenance)};
}

}  // namespace overlaptune
