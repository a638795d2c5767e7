#pragma once
// Problems and configs as a program passes them.

#include <overlaptune/run.h>
#include <string>

namespace overlaptune {

/// A problem with m = 4096, n = 1024, k = 512 and 4 ranks.
inline ovt_problem asked_problem(ovt_op op) {
  return {.size = sizeof(ovt_problem),
          .m = 4096,
          .n = 1024,
          .k = 512,
          .op = op,
          .dtype = OVT_BF16,
          .ranks = 4,
          .reserved = 0};
}

/// "sequential" or "chunked", which needs CTAs.
inline std::string library_config(const std::string& strategy,
                                  const std::string& transport = "ring") {
  const bool is_chunked = strategy == "chunked";
  return strategy + (is_chunked ? " ctas=16 chunks=4" : "") + " transport=" + transport;
}

/// The fields of 256 tiles of 128 x 128, 8 a row panel.
inline constexpr const char* kAskedTiles = " tile=128x128x64 stages=4 cluster=1 swizzle=2";

/// Groups of whole swizzle groups.
inline std::string signaled_config(const std::string& transport,
                                   const std::string& groups = "64,192") {
  return std::string("signaled") + kAskedTiles + " ctas=8 transport=" + transport +
         " groups=" + groups;
}

}  // namespace overlaptune
