// Layer GEMMs: the products of models to which the problems of tuning runs belong.

#include <fmt/format.h>

#include "db/impl.hpp"

namespace overlaptune {

using db::Conflict;

void Store::Impl::insert_layer_gemm(TuningRunId run, const LayerGemm& gemm, Conflict conflict) {
  static const db::Insert insert = db::insert_sql(
      "layer_gemms", db::join({"run_id, problem_id", db::kLayerGemmKey}), "times_per_pass");
  refuse_if(db::complaint(gemm), fmt::format("{} of a layer", to_string(gemm.product)));
  const auto problem = problem_id(gemm.problem);
  connection->query(insert[conflict])
      .bind(run)
      .bind(problem)
      .bind(gemm.model)
      .bind(gemm.product)
      .bind(gemm.parallelism)
      .bind(gemm.tokens)
      .bind(gemm.times_per_pass)
      .run();
}

void Store::Impl::each_layer_gemm(TuningRunId run,
                                  const std::function<void(const LayerGemm&)>& visit) const {
  static const std::string select = db::select_layer_gemms() + " WHERE run_id = ? ORDER BY g.id";
  auto query = connection->query(select);
  query.bind(run);
  for_rows(query, db::read_layer_gemm, visit);
}

void Store::add_layer_gemms(TuningRunId run, std::span<const LayerGemm> gemms) {
  if (gemms.empty()) return;
  impl_->connection->write([&] {
    for (const LayerGemm& gemm : gemms) impl_->insert_layer_gemm(run, gemm, Conflict::replace);
  });
}

std::vector<LayerGemm> Store::layer_gemms(PlatformId platform) const {
  static const std::string select = fmt::format(
      "SELECT {0}, {1}, times_per_pass FROM (SELECT g.*, row_number() OVER (PARTITION BY "
      "problem_id, {1} ORDER BY provenance_id DESC) AS age FROM layer_gemms g JOIN tuning_runs r "
      "ON r.id = run_id WHERE platform_id = ?) g JOIN problems p ON p.id = problem_id WHERE age = "
      "1 ORDER BY g.id",
      db::kProblemColumns, db::kLayerGemmKey);
  std::vector<LayerGemm> list;
  auto query = impl_->connection->query(select);
  query.bind(platform);
  while (query.step()) list.push_back(db::read_layer_gemm(query));
  return list;
}

}  // namespace overlaptune
