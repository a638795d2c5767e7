#include <bit>

#include "core/base/hash.hpp"
#include "model/fitting_digest.hpp"
#include "model/model.hpp"

namespace overlaptune {
namespace {

/// Adds numbers and texts to a hash.
class Digest {
 public:
  void add(std::string_view text) {
    add(static_cast<std::uint64_t>(text.size()));
    hash_ = fnv1a(text, hash_);
  }
  void add(std::uint64_t number) { hash_ = mix(hash_ ^ mix(number)); }
  void add(std::int64_t number) { add(static_cast<std::uint64_t>(number)); }
  void add(int number) { add(std::int64_t{number}); }
  void add(double number) { add(std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number)); }
  void add(const Summary& time) {
    add(time.median.count());
    add(time.p10.count());
    add(time.p90.count());
    add(std::int64_t{time.count});
  }
  void add(const Tile& tile) {
    for (const int side : {tile.block_m, tile.block_n, tile.block_k, tile.stages, tile.cluster}) {
      add(side);
    }
  }
  template <class T>
  void add(const std::optional<T>& value) {
    add(value ? 1 : 0);
    if (value) add(*value);
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = fnv1a("");
};

}  // namespace

std::uint64_t digest_of_fit(const Platform& platform, std::span<const Measurement> measurements) {
  Digest digest;
  digest.add(digest_of_fitting_sources());
  digest.add(fingerprint(platform));
  for (const Measurement& each : measurements) {
    // No model is fitted to operations of a layer.
    if (std::holds_alternative<LayerProbe>(each.probe)) continue;
    digest.add(to_string(each.probe));
    digest.add(each.time);
    digest.add(each.collective_time);
    digest.add(each.library_tile);
    digest.add(each.conditions.sm_clock_mhz);
    digest.add(each.conditions.power_w);
  }
  return digest.value();
}

}  // namespace overlaptune
