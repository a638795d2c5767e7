#include "kernels/compile/workshop.hpp"

#include <fmt/format.h>

namespace overlaptune::kernels {

Expected<Workshop> Workshop::open() {
  auto options = cubin_cache_options();
  if (!options) return error_of(options);
  return Workshop(Compiler::load(), std::move(*options));
}

Expected<Cubin> Workshop::kernel(const CompileJob& job) const {
  const CubinCache cache(cache_);
  if (compiler_) {
    auto compiled = compile_cached(*compiler_, cache, job);
    if (!compiled) return error_of(compiled);
    return std::move(compiled->cubin);
  }
  if (auto cubin = cache.find(key_of_any_nvrtc(job.source, job.architecture))) return *cubin;
  return tl::make_unexpected(
      Error{compiler_.error().kind,
            fmt::format("kernel {} for {}: not in the cache '{}' (OVERLAPTUNE_CACHE), which "
                        "`overlaptune kernels --db FILE --out FOLDER` fills, and {}",
                        to_string(job.source), job.architecture, cache_.folder.string(),
                        compiler_.error().message)});
}

void Workshop::prepare(std::vector<CompileJob> jobs, unsigned threads) const {
  const CubinCache cache(cache_);
  if (jobs.empty() || !compiler_ || !cache.can_store()) return;
  static_cast<void>(compile_all(*compiler_, cache, jobs, threads));
}

}  // namespace overlaptune::kernels
