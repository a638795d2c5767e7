#include "core/base/environment.hpp"

#include <cstdlib>

namespace overlaptune {

const Variables& process_variables() {
  static const Variables variables = [](const char* name) -> std::optional<std::string> {
    const char* const value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return value;
  };
  return variables;
}

Environment environment(const Variables& variables) {
  const auto text = [&](const char* name) {
    auto value = variables(name);
    return value && value->empty() ? std::nullopt : value;
  };
  return {.database = text(kDatabaseVariable),
          .system_database = variables(kSystemDatabaseVariable),
          .log = text(kLogVariable),
          .no_color = text("NO_COLOR"),
          .cache = text(kCacheVariable),
          .cache_mb = text(kCacheSizeVariable),
          .time_limit = text(kTimeLimitVariable),
          .worker = variables(kWorkerVariable),
          .ranks_per_gpu = variables(kRanksPerGpuVariable),
          .port = variables(kPortVariable),
          .secret = text(kSecretVariable),
          .secret_file = variables(kSecretFileVariable),
          .token = text(kTokenVariable)};
}

}  // namespace overlaptune
