#include "db/schema.hpp"

#include <cstdint>
#include <map>

#include <fmt/format.h>

#include "core/base/hash.hpp"
#include "core/base/printable.hpp"
#include "db/tallies.hpp"

namespace overlaptune::db {
namespace {

// Rules: names contain units. CHECK is for numbers (9e999 is infinity, and SQLite turns NaN into
// NULL). Names of enumerations are checked where rows are read, so that a new name needs no other
// schema. A config is one column, the line that `to_string` prints: a new field of a config needs
// no new column. Every winner is valid, so the table has no verdict.
// Files are compared with this text, comments included.
constexpr const char* kSchema = R"sql(
CREATE TABLE platforms (
  id INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL UNIQUE,
  machine TEXT NOT NULL,
  name TEXT NOT NULL,
  gpu_model TEXT NOT NULL,
  gpu_count INTEGER NOT NULL CHECK (gpu_count >= 0),
  sms INTEGER NOT NULL CHECK (sms >= 0),
  compute_capability INTEGER NOT NULL CHECK (compute_capability >= 0),
  memory_bytes INTEGER NOT NULL CHECK (memory_bytes >= 0),
  driver_version TEXT NOT NULL,
  cuda_version TEXT NOT NULL,
  nccl_version TEXT NOT NULL,
  topology TEXT NOT NULL,
  transport TEXT NOT NULL,
  multicast_allowed INTEGER NOT NULL CHECK (multicast_allowed IN (0, 1)),
  details TEXT NOT NULL
) STRICT;

CREATE TABLE provenance (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,  -- 32 random hexadecimal digits: the same run in every database
  program_version TEXT NOT NULL,
  host TEXT NOT NULL,
  command_line TEXT NOT NULL,
  seed INTEGER NOT NULL,     -- 64 bits; from 2^63 on shown as a negative number
  started_at TEXT NOT NULL   -- UTC, ISO 8601, as all times of day
) STRICT;

CREATE TABLE probe_runs (
  id INTEGER PRIMARY KEY,
  platform_id INTEGER NOT NULL REFERENCES platforms (id),
  provenance_id INTEGER NOT NULL UNIQUE REFERENCES provenance (id),
  finished_at TEXT           -- NULL: still running, or killed
) STRICT;
CREATE INDEX probe_runs_of_platform ON probe_runs (platform_id);

CREATE TABLE measurements (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES probe_runs (id),
  probe TEXT NOT NULL,       -- one line that names every field below that applies
  kind TEXT NOT NULL,        -- gemm, collective, concurrent, sustained, copy, launch, peer, layer
  m INTEGER,
  n INTEGER,
  k INTEGER,
  dtype TEXT,
  block_m INTEGER,           -- 0: the library's choice
  block_n INTEGER,
  block_k INTEGER,
  stages INTEGER,
  cluster INTEGER,
  swizzle INTEGER,
  sms INTEGER,               -- 0: all
  collective TEXT,
  collective_bytes INTEGER,
  ranks INTEGER,
  comm_ctas INTEGER,         -- 0: the library's default
  transport TEXT,
  copy_bytes INTEGER,
  copy_ctas INTEGER,         -- 0: a copy engine
  launch_cost TEXT,
  time_median_us REAL NOT NULL CHECK (time_median_us >= 0 AND time_median_us < 9e999),
  time_p10_us REAL NOT NULL CHECK (time_p10_us >= 0 AND time_p10_us < 9e999),
  time_p90_us REAL NOT NULL CHECK (time_p90_us >= 0 AND time_p90_us < 9e999),
  time_count INTEGER NOT NULL CHECK (time_count >= 0),
  collective_median_us REAL CHECK (collective_median_us >= 0 AND collective_median_us < 9e999),
  collective_p10_us REAL CHECK (collective_p10_us >= 0 AND collective_p10_us < 9e999),
  collective_p90_us REAL CHECK (collective_p90_us >= 0 AND collective_p90_us < 9e999),
  collective_count INTEGER CHECK (collective_count >= 0),
  sm_clock_mhz REAL CHECK (sm_clock_mhz >= 0 AND sm_clock_mhz < 9e999),
  power_w REAL CHECK (power_w >= 0 AND power_w < 9e999),
  library_block_m INTEGER CHECK (library_block_m > 0),  -- the tile that the library chose
  library_block_n INTEGER CHECK (library_block_n > 0),
  library_block_k INTEGER CHECK (library_block_k > 0),
  library_stages INTEGER CHECK (library_stages > 0),
  library_cluster INTEGER CHECK (library_cluster > 0),
  peer_bytes INTEGER,
  peer_from INTEGER,
  peer_to INTEGER,
  layer_work TEXT,
  layer_amount INTEGER,      -- bytes, or operations of attention
  layer_ranks INTEGER,       -- 1: no collective
  UNIQUE (run_id, probe)
) STRICT;

CREATE TABLE problems (
  id INTEGER PRIMARY KEY,
  op TEXT NOT NULL,
  m INTEGER NOT NULL CHECK (m > 0),
  n INTEGER NOT NULL CHECK (n > 0),
  k INTEGER NOT NULL CHECK (k > 0),
  dtype TEXT NOT NULL,
  ranks INTEGER NOT NULL CHECK (ranks > 1),
  UNIQUE (op, m, n, k, dtype, ranks)
) STRICT;

CREATE TABLE tuning_runs (
  id INTEGER PRIMARY KEY,
  platform_id INTEGER NOT NULL REFERENCES platforms (id),
  provenance_id INTEGER NOT NULL UNIQUE REFERENCES provenance (id),
  request TEXT NOT NULL,
  finished_at TEXT           -- NULL: still running, or stopped
) STRICT;
CREATE INDEX tuning_runs_of_platform ON tuning_runs (platform_id);

CREATE TABLE candidates (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES tuning_runs (id),
  problem_id INTEGER NOT NULL REFERENCES problems (id),
  launch TEXT NOT NULL,
  config TEXT NOT NULL,      -- as `overlaptune run --config` reads it, written in one way only
  origin TEXT NOT NULL,
  rank_by_model INTEGER CHECK (rank_by_model >= 0),
  predicted_us REAL NOT NULL CHECK (predicted_us >= 0 AND predicted_us < 9e999),
  verdict TEXT NOT NULL,
  reason TEXT NOT NULL,
  measured_median_us REAL CHECK (measured_median_us >= 0 AND measured_median_us < 9e999),
  measured_p10_us REAL CHECK (measured_p10_us >= 0 AND measured_p10_us < 9e999),
  measured_p90_us REAL CHECK (measured_p90_us >= 0 AND measured_p90_us < 9e999),
  measured_count INTEGER CHECK (measured_count >= 0),
  speedup_median REAL CHECK (speedup_median >= 0 AND speedup_median < 9e999),
  speedup_p10 REAL CHECK (speedup_p10 >= 0 AND speedup_p10 < 9e999),
  speedup_p90 REAL CHECK (speedup_p90 >= 0 AND speedup_p90 < 9e999),
  sm_clock_mhz REAL CHECK (sm_clock_mhz >= 0 AND sm_clock_mhz < 9e999),
  power_w REAL CHECK (power_w >= 0 AND power_w < 9e999),
  strategy TEXT AS (substr(config, 1, instr(config, ' ') - 1)) VIRTUAL,
  seal INTEGER,
  UNIQUE (run_id, problem_id, launch, config)
) STRICT;

CREATE TABLE phase_results (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES tuning_runs (id),
  problem_id INTEGER NOT NULL REFERENCES problems (id),
  launch TEXT NOT NULL,
  config TEXT NOT NULL,
  phase TEXT NOT NULL,       -- of a second run: steady, cold, beside
  verdict TEXT NOT NULL,
  reason TEXT NOT NULL,
  measured_median_us REAL CHECK (measured_median_us >= 0 AND measured_median_us < 9e999),
  measured_p10_us REAL CHECK (measured_p10_us >= 0 AND measured_p10_us < 9e999),
  measured_p90_us REAL CHECK (measured_p90_us >= 0 AND measured_p90_us < 9e999),
  measured_count INTEGER CHECK (measured_count >= 0),
  sequential_us REAL CHECK (sequential_us >= 0 AND sequential_us < 9e999),
  speedup_median REAL CHECK (speedup_median >= 0 AND speedup_median < 9e999),
  speedup_low REAL CHECK (speedup_low >= 0 AND speedup_low < 9e999),
  speedup_high REAL CHECK (speedup_high >= 0 AND speedup_high < 9e999),
  sm_clock_mhz REAL CHECK (sm_clock_mhz >= 0 AND sm_clock_mhz < 9e999),
  power_w REAL CHECK (power_w >= 0 AND power_w < 9e999),
  UNIQUE (run_id, problem_id, launch, config, phase)
) STRICT;

CREATE TABLE layer_gemms (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES tuning_runs (id),
  problem_id INTEGER NOT NULL REFERENCES problems (id),
  model TEXT NOT NULL CHECK (model <> ''),
  product TEXT NOT NULL,     -- qkv, o, gate_up, up, down, experts
  parallelism TEXT NOT NULL, -- tp, sp
  tokens INTEGER NOT NULL CHECK (tokens > 0),
  times_per_pass INTEGER NOT NULL CHECK (times_per_pass > 0),
  UNIQUE (run_id, problem_id, model, product, parallelism, tokens)
) STRICT;

CREATE TABLE winners (
  platform_id INTEGER NOT NULL REFERENCES platforms (id),
  op TEXT NOT NULL,
  m INTEGER NOT NULL CHECK (m > 0),
  n INTEGER NOT NULL CHECK (n > 0),
  k INTEGER NOT NULL CHECK (k > 0),
  dtype TEXT NOT NULL,
  ranks INTEGER NOT NULL CHECK (ranks > 1),
  launch TEXT NOT NULL,
  config TEXT NOT NULL,
  measured_median_us REAL NOT NULL CHECK (measured_median_us >= 0 AND measured_median_us < 9e999),
  predicted_us REAL NOT NULL CHECK (predicted_us >= 0 AND predicted_us < 9e999),
  sequential_us REAL NOT NULL CHECK (sequential_us >= 0 AND sequential_us < 9e999),
  validated_at TEXT NOT NULL,
  run_id INTEGER NOT NULL REFERENCES tuning_runs (id),
  origin TEXT NOT NULL,
  rank_by_model INTEGER CHECK (rank_by_model >= 0),
  reason TEXT NOT NULL,
  measured_p10_us REAL NOT NULL CHECK (measured_p10_us >= 0 AND measured_p10_us < 9e999),
  measured_p90_us REAL NOT NULL CHECK (measured_p90_us >= 0 AND measured_p90_us < 9e999),
  measured_count INTEGER NOT NULL CHECK (measured_count >= 0),
  speedup_median REAL CHECK (speedup_median >= 0 AND speedup_median < 9e999),
  speedup_p10 REAL CHECK (speedup_p10 >= 0 AND speedup_p10 < 9e999),
  speedup_p90 REAL CHECK (speedup_p90 >= 0 AND speedup_p90 < 9e999),
  sm_clock_mhz REAL CHECK (sm_clock_mhz >= 0 AND sm_clock_mhz < 9e999),
  power_w REAL CHECK (power_w >= 0 AND power_w < 9e999),
  gemm_alone_us REAL NOT NULL CHECK (gemm_alone_us >= 0 AND gemm_alone_us < 9e999),
  collective_alone_us REAL NOT NULL CHECK (collective_alone_us >= 0 AND collective_alone_us < 9e999),
  overlap_fraction REAL CHECK (overlap_fraction BETWEEN 0 AND 1),
  seal INTEGER,              -- over all; see docs/database.md
  strategy TEXT AS (substr(config, 1, instr(config, ' ') - 1)) VIRTUAL,
  PRIMARY KEY (platform_id, op, m, n, k, dtype, ranks, launch)
) STRICT, WITHOUT ROWID;

CREATE TABLE fits (
  platform_id INTEGER PRIMARY KEY REFERENCES platforms (id),
  fitted_to INTEGER NOT NULL, -- a hash of the measurements and of the program's model
  constants TEXT NOT NULL,   -- a line for each fit: its name, a colon, its constants
  seal INTEGER               -- over all; see docs/database.md
) STRICT;

CREATE TABLE tallies (
  name TEXT PRIMARY KEY,     -- of a table
  rows INTEGER NOT NULL,
  sum INTEGER NOT NULL       -- of 40 bits of a hash of each row; see docs/database.md
) STRICT, WITHOUT ROWID;
)sql";

/// Digest of the objects of the schema, as SQLite 3.40 keeps their texts. A file with another
/// digest is compared with a schema made for the comparison, which takes longer than the rest of
/// opening it.
constexpr std::uint64_t kDigest = 0xff352e077aaf6f8aULL;

/// The name of each object of the schema, with the SQL text that creates it. Statistics, which
/// ANALYZE stores, are no part of it.
std::map<std::string, std::string> objects(Connection& connection) {
  std::map<std::string, std::string> found;
  auto query = connection.query(
      "SELECT type || ' ' || name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND (type, name) "
      "NOT IN (VALUES ('table', 'sqlite_stat1'), ('table', 'sqlite_stat4'))");
  while (query.step()) {
    auto name = query.text();
    found.emplace(std::move(name), query.text());
  }
  return found;
}

std::string damaged_schema(std::string_view fault) {
  return fmt::format("damaged schema ({}); restore a copy", fault);
}

std::uint64_t digest(const std::map<std::string, std::string>& objects) {
  std::uint64_t hash = fnv1a("");
  for (const auto& [name, sql] : objects) hash = fnv1a(sql, fnv1a(name, hash));
  return hash;
}

}  // namespace

void create_schema(Connection& connection) {
  connection.write([&] {
    connection.execute(kSchema);
    make_tallies(connection);
    connection.execute(fmt::format("PRAGMA application_id = {}", kApplicationId));
    connection.execute(fmt::format("PRAGMA user_version = {}", kSchemaVersion));
  });
}

bool has_known_digest(Connection& connection) {
  return digest(objects(connection)) == kDigest;
}

std::optional<std::string> schema_fault(Connection& connection) {
  const auto found = objects(connection);
  if (digest(found) == kDigest) return std::nullopt;
  Connection memory(":memory:", ":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  create_schema(memory);
  const auto expected = objects(memory);
  for (const auto& [name, sql] : expected) {
    const auto there = found.find(name);
    if (there == found.end()) return damaged_schema(fmt::format("{} is missing", name));
    if (there->second != sql) {
      return damaged_schema(fmt::format("{} is not as this program makes it", name));
    }
  }
  for (const auto& [name, sql] : found) {
    if (expected.contains(name)) continue;
    return fmt::format("holds {}, which is not of this program; drop it, or restore a copy",
                       printable(name));
  }
  return std::nullopt;
}

}  // namespace overlaptune::db
