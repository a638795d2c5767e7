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
          .system_database = variables("OVERLAPTUNE_SYSTEM_DB"),
          .log = text("OVERLAPTUNE_LOG"),
          .no_color = text("NO_COLOR"),
          .cache = text("OVERLAPTUNE_CACHE"),
          .cache_mb = text("OVERLAPTUNE_CACHE_MB"),
          .time_limit = text(kTimeLimitVariable),
          .worker = variables(kWorkerVariable),
          .ranks_per_gpu = variables(kRanksPerGpuVariable),
          .port = variables(kPortVariable),
          .secret = text(kSecretVariable),
          .secret_file = variables(kSecretFileVariable),
          .token = text(kTokenVariable)};
}

}  // namespace overlaptune
