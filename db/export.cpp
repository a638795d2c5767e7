// `export_json`: a database as one document, with one line for each row, written while it is read.

#include <map>
#include <ostream>
#include <utility>

#include "db/json_values.hpp"

namespace overlaptune {
namespace {

using db::Json;

/// One line of JSON. Bytes that are not UTF-8 (a command line may hold any) become U+FFFD.
std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Writes the elements of one array, with commas between them.
class Rows {
 public:
  Rows(std::ostream& out, const char* indent) : out_(out), indent_(indent) {}
  void add(const std::string& row) {
    out_ << (first_ ? "\n" : ",\n") << indent_ << row;
    first_ = false;
  }

 private:
  std::ostream& out_;
  const char* indent_;
  bool first_ = true;
};

/// An object without its end, so that an array can follow as its last field: `{…, "name": [`.
std::string opened(const Json& json, const char* array) {
  std::string text = dumped(json);
  text.pop_back();
  return text + ", \"" + array + "\": [";
}

using Names = std::map<std::int64_t, std::string>;

void write_tuning_runs(std::ostream& out, const Store::Impl& impl, const Names& platforms,
                       Names& runs) {
  Rows rows(out, "    ");
  impl.each_run(RunKind::tuning, [&](const StoredRun& run) {
    runs[run.id] = run.uid;
    rows.add(
        opened(db::to_json(run, RunKind::tuning, impl.noted(platforms, run.platform, "platform")),
               "layer_gemms"));
    Rows gemms(out, "      ");
    impl.each_layer_gemm(run.id, [&](const LayerGemm& gemm) {
      gemms.add(dumped(db::kLayerGemm.write<Json>(gemm)));
    });
    // Runs without phases are written as they were before there were any.
    bool first = true;
    Rows phases(out, "      ");
    impl.each_phase_result(run.id, [&](const PhaseResult& result) {
      if (std::exchange(first, false)) out << "], \"phase_results\": [";
      phases.add(dumped(db::kPhaseResult.write<Json>(result)));
    });
    out << "], \"candidates\": [";
    Rows candidates(out, "      ");
    impl.each_candidate_of(run.id, [&](const StoredCandidate& stored) {
      candidates.add(dumped(db::kCandidate.write<Json>(stored.candidate)));
    });
    out << "]}";
  });
}

void write_probe_runs(std::ostream& out, const Store::Impl& impl, const Names& platforms) {
  Rows rows(out, "    ");
  impl.each_run(RunKind::probe, [&](const StoredRun& run) {
    rows.add(
        opened(db::to_json(run, RunKind::probe, impl.noted(platforms, run.platform, "platform")),
               "measurements"));
    Rows measurements(out, "      ");
    impl.each_measurement(run.id, [&](const Measurement& measurement) {
      measurements.add(dumped(db::kMeasurement.write<Json>(measurement)));
    });
    out << "]}";
  });
}

}  // namespace

void export_json(const Store& store, std::ostream& out) {
  const Store::Impl& impl = store.impl();
  impl.connection->read([&] {
    Names platforms;
    Names runs;
    out << "{\n  \"format\": \"overlaptune\",\n  \"format_version\": " << db::kFormatVersion
        << ",\n  \"platforms\": [";
    Rows rows(out, "    ");
    impl.each_platform([&](const StoredPlatform& stored) {
      platforms[stored.id] = fingerprint(stored.platform);
      rows.add(dumped(db::to_json(stored.platform)));
    });
    out << "],\n  \"probe_runs\": [";
    write_probe_runs(out, impl, platforms);
    out << "],\n  \"tuning_runs\": [";
    write_tuning_runs(out, impl, platforms, runs);
    out << "],\n  \"winners\": [";
    Rows winners(out, "    ");
    impl.each_winner([&](const StoredWinner& stored) {
      winners.add(dumped(db::to_json(stored, impl.noted(platforms, stored.platform, "platform"),
                                     impl.noted(runs, stored.run, "tuning run"))));
    });
    out << "]\n}\n";
  });
  if (!out.flush()) {
    throw Failure(ErrorKind::cannot_write,
                  "export: the output cannot be written; check its place and the space there");
  }
}

}  // namespace overlaptune
