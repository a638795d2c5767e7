#include "core/platform.hpp"

#include <fmt/format.h>

#include "core/base/hash.hpp"

namespace overlaptune {

namespace {

std::string text_of(const auto& value) {
  return fmt::format("{}", value);
}
std::string text_of(Bytes value) {
  return std::to_string(value.count);
}

}  // namespace

std::vector<PlatformField> fields(const Platform& platform) {
  std::vector<PlatformField> list;
  each_field(kPlatformFields, platform, [&](std::string_view name, const auto& value) {
    list.push_back({name, text_of(value)});
  });
  return list;
}

std::string fingerprint(const Platform& platform) {
  std::uint64_t hash = fnv1a("");
  for (const auto& [name, value] : fields(platform)) {
    hash = fnv1a(name, hash);
    hash = fnv1a("=", hash);
    hash = fnv1a(value, hash);
    hash = fnv1a("\n", hash);
  }
  return fmt::format("{:016x}", hash);
}

std::vector<std::string> differences(const Platform& here, const Platform& there) {
  std::vector<std::string> list;
  const auto ours = fields(here);
  const auto theirs = fields(there);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i].value != theirs[i].value) {
      list.push_back(
          fmt::format("{}: {} here, {} there", ours[i].name, ours[i].value, theirs[i].value));
    }
  }
  return list;
}

std::string full_name(const Platform& platform) {
  return fmt::format("{}:{}", platform.machine, platform.name);
}

bool is_named(const Platform& platform, std::string_view text) {
  return text == platform.name || text == full_name(platform) || text == fingerprint(platform);
}

bool is_simulated(const Platform& platform) {
  return platform.machine == "sim";
}

Expected<void> fits(const Problem& problem, const Platform& platform) {
  if (problem.ranks > platform.gpu_count) {
    return bad_input(fmt::format("ranks = {}: expected at most the {} GPUs of {}", problem.ranks,
                                 platform.gpu_count, full_name(platform)));
  }
  const double bytes = product_bytes(problem.m, problem.n, problem.k, problem.elements);
  if (bytes > static_cast<double>(platform.memory.count)) {
    return bad_input(
        fmt::format("m,n,k = {},{},{}: A, B and C take {:.0f} MB, expected at most the {:.0f} MB "
                    "of a GPU of {}",
                    problem.m, problem.n, problem.k, bytes * 1e-6,
                    static_cast<double>(platform.memory.count) * 1e-6, full_name(platform)));
  }
  return {};
}

}  // namespace overlaptune
