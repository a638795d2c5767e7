// `import_json`: the document becomes a database in memory, which is then merged. So nothing is
// written before the whole document is known to be sound.

#include <istream>
#include <map>

#include <fmt/format.h>

#include "db/json_values.hpp"

namespace overlaptune {
namespace {

using db::Conflict;
using db::Node;
using Ids = std::map<std::string, std::int64_t>;

std::int64_t looked_up(const Ids& ids, const Node& node, const char* what) {
  const auto found = ids.find(node.text());
  if (found == ids.end()) node.fail(fmt::format("no {} of the document is called so", what));
  return found->second;
}

void fill(Store::Impl& staging, const Node& document) {
  if (document["format"].text() != "overlaptune") {
    document["format"].fail("expected \"overlaptune\": an export of this program");
  }
  if (document["format_version"].integer() > db::kFormatVersion) {
    document["format_version"].fail("newer than this program; use a newer overlaptune");
  }
  Ids platforms;
  Ids tuning_runs;
  std::map<std::int64_t, PlatformId> platform_of_run;
  document["platforms"].each([&](const Node& node) {
    const Platform platform = db::platform_of(node);
    platforms[fingerprint(platform)] = staging.insert_platform(platform);
  });
  const auto insert_run = [&](const Node& node, RunKind kind) {
    StoredRun run = db::run_of(node, kind);
    run.platform = looked_up(platforms, node["platform"], "platform");
    const auto id = staging.insert_run(kind, run);
    if (kind == RunKind::tuning) {
      tuning_runs[run.uid] = id;
      platform_of_run[id] = run.platform;
    }
    return id;
  };
  document["probe_runs"].each([&](const Node& node) {
    const auto run = insert_run(node, RunKind::probe);
    node["measurements"].each([&](const Node& measurement) {
      staging.insert_measurement(run, db::measurement_of(measurement), Conflict::replace);
    });
  });
  document["tuning_runs"].each([&](const Node& node) {
    const auto run = insert_run(node, RunKind::tuning);
    // Exports of older programs, which did not store the products of models, have no such field.
    if (node.has("layer_gemms")) {
      node["layer_gemms"].each([&](const Node& gemm) {
        staging.insert_layer_gemm(run, db::layer_gemm_of(gemm), Conflict::replace);
      });
    }
    node["candidates"].each([&](const Node& candidate) {
      staging.insert_candidate(run, db::candidate_of(candidate), Conflict::replace);
    });
  });
  document["winners"].each([&](const Node& node) {
    StoredWinner winner = db::winner_of(node);
    winner.platform = looked_up(platforms, node["platform"], "platform");
    winner.run = looked_up(tuning_runs, node["run"], "tuning run");
    if (platform_of_run.at(winner.run) != winner.platform) {
      node["platform"].fail("expected the platform of the winner's run");
    }
    staging.insert_winner(winner, Conflict::keep);
  });
}

/// An error with one line of limited length, whatever the document holds.
Error one_line(std::string text) {
  constexpr std::size_t kLongest = 400;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "…";
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return {ErrorKind::bad_input, "import: " + text};
}

/// The message of the JSON library, without the library's name before it.
std::string said(const nlohmann::json::exception& error) {
  const std::string_view text = error.what();
  const auto end = text.find("] ");
  return std::string(end == text.npos ? text : text.substr(end + 2));
}

}  // namespace

Expected<void> import_json(Store& store, std::istream& in) {
  Store staging(std::make_unique<Store::Impl>(db::open_memory()));
  try {
    const auto document = nlohmann::json::parse(in);
    staging.impl().connection->write([&] { fill(staging.impl(), Node(document)); });
  } catch (const nlohmann::json::exception& error) {
    return tl::make_unexpected(one_line(said(error)));
  } catch (const Failure& failure) {
    return tl::make_unexpected(one_line(failure.what()));
  }
  store.merge(staging);
  return {};
}

}  // namespace overlaptune
