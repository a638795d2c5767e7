#include "run/operands.hpp"

#include <array>
#include <cstdint>

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

}  // namespace

std::string mistake_in(const Operands& operands, const OperandBytes& bytes,
                       const WrittenMemory& written) {
  const std::array<Named, 3> all{{{"a", operands.a, bytes.a, written.a},
                                  {"b", operands.b, bytes.b, nullptr},
                                  {"c", operands.c, bytes.c, written.c}}};
  for (const Named& each : all) {
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
  for (const Named& each : {all[0], all[1]}) {
    if (!overlap(c.begin, c.bytes, each.begin, each.bytes)) continue;
    return fmt::format("c: overlaps {}, and is written while {} is read: pass other memory",
                       each.name, each.name);
  }
  return "";
}

}  // namespace overlaptune::run
