#include "run/operands.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <tuple>

#include <fmt/format.h>

namespace overlaptune::run {
namespace {

/// Tensor maps, vectors of 16 bytes and cuBLASLt (run/gemm/gemm.hpp) need no more.
constexpr std::uintptr_t kAlign = 16;

/// An operand by its name, with the place in the world's memory where it may lie.
struct Named {
  const char* name;
  const void* begin;
  std::size_t bytes;
  const void* place;
};

std::uintptr_t address(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

bool overlap(const void* one, std::size_t bytes, const void* other, std::size_t other_bytes) {
  return bytes > 0 && other_bytes > 0 && address(one) < address(other) + other_bytes &&
         address(other) < address(one) + bytes;
}

/// The mistake in scales by themselves; empty: none.
std::string mistake_in_scales(const char* name, const float* scales, std::size_t bytes) {
  if ((scales != nullptr) != (bytes > 0)) {
    return bytes > 0 ? fmt::format(
                           "{}: NULL: the dtype of this plan needs scales: call "
                           "ovt_plan_run_scaled or ovt_family_run_scaled with them",
                           name)
                     : fmt::format("{}: the dtype of this plan has no scales: pass NULL", name);
  }
  if (address(scales) % kAlign != 0) {
    return fmt::format("{}: expected memory aligned to {} bytes", name, kAlign);
  }
  return "";
}

}  // namespace

std::string mistake_in(const Operands& operands, const OperandBytes& bytes,
                       const WrittenMemory& written) {
  for (const auto& [name, scales, size] :
       {std::tuple{"a_scales", operands.scales.a, bytes.a_scales},
        std::tuple{"b_scales", operands.scales.b, bytes.b_scales}}) {
    if (std::string mistake = mistake_in_scales(name, scales, size); !mistake.empty()) {
      return mistake;
    }
  }
  const std::array<Named, 5> all{{{"a", operands.a, bytes.a, written.a},
                                  {"b", operands.b, bytes.b, nullptr},
                                  {"c", operands.c, bytes.c, written.c},
                                  {"a_scales", operands.scales.a, bytes.a_scales, nullptr},
                                  {"b_scales", operands.scales.b, bytes.b_scales, nullptr}}};
  for (const Named& each : std::span(all).first<3>()) {
    if (each.begin == nullptr) return fmt::format("{}: NULL", each.name);
    if (address(each.begin) % kAlign != 0) {
      return fmt::format("{}: expected memory aligned to {} bytes", each.name, kAlign);
    }
  }
  for (const Named& each : all) {
    const bool at_its_place = each.place != nullptr && each.begin == each.place;
    if (at_its_place || !overlap(each.begin, each.bytes, written.begin, written.bytes)) continue;
    return fmt::format(
        "{}: lies in the part of the world's memory that this plan overwrites: pass "
        "{}other memory",
        each.name, each.place == nullptr ? "" : fmt::format("ovt_buffers.{} or ", each.name));
  }
  const Named& c = all[2];
  for (const Named& each : {all[0], all[1], all[3], all[4]}) {
    if (!overlap(c.begin, c.bytes, each.begin, each.bytes)) continue;
    return fmt::format("c: overlaps {}, and is written while {} is read: pass other memory",
                       each.name, each.name);
  }
  return "";
}

}  // namespace overlaptune::run
