// Operands by their addresses; nothing reads the memory.

#include "run/operands.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace overlaptune::run {
namespace {

void* at(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

constexpr OperandBytes kBytes{.a = 0x1000, .b = 0x2000, .c = 0x4000};
constexpr std::uintptr_t kWorld = 0x100000;

/// A plan that writes 0x8000 bytes of the world's memory: A's place, then a workspace.
WrittenMemory gathering() {
  return {.begin = static_cast<std::byte*>(at(kWorld)), .bytes = 0x8000, .a = at(kWorld)};
}

/// Likewise with C's place.
WrittenMemory reducing() {
  return {.begin = static_cast<std::byte*>(at(kWorld)), .bytes = 0x8000, .c = at(kWorld)};
}

std::string said(std::uintptr_t a, std::uintptr_t b, std::uintptr_t c,
                 const WrittenMemory& written = {}) {
  return mistake_in({.a = at(a), .b = at(b), .c = at(c)}, kBytes, written);
}

TEST(OperandsTest, MemoryOfTheCallerIsTaken) {
  EXPECT_EQ(said(0x10000, 0x20000, 0x30000), "");
  EXPECT_EQ(said(0x10000, 0x20000, 0x30000, gathering()), "");
  EXPECT_EQ(said(0x10000, 0x10000, 0x30000), "");  // A and B are only read
  EXPECT_EQ(said(0x10010, 0x20030, 0x30070), "");
}

TEST(OperandsTest, NothingAndOddAddressesAreRefused) {
  EXPECT_EQ(said(0, 0x20000, 0x30000), "a: NULL");
  EXPECT_EQ(said(0x10000, 0, 0x30000), "b: NULL");
  EXPECT_EQ(said(0x10000, 0x20000, 0), "c: NULL");
  EXPECT_EQ(said(0x10000, 0x20008, 0x30000), "b: expected memory aligned to 16 bytes");
}

TEST(OperandsTest, MemoryThatThePlanOverwritesIsRefused) {
  const std::string lies = ": lies in the part of the world's memory that this plan overwrites: ";
  EXPECT_EQ(said(kWorld + 0x2000, 0x20000, 0x30000, gathering()),
            "a" + lies + "pass ovt_buffers.a or other memory");
  EXPECT_EQ(said(kWorld - 0x800, 0x20000, 0x30000, gathering()),
            "a" + lies + "pass ovt_buffers.a or other memory");
  EXPECT_EQ(said(kWorld, 0x20000, 0x30000, reducing()), "a" + lies + "pass other memory");
  EXPECT_EQ(said(0x10000, kWorld, 0x30000, gathering()), "b" + lies + "pass other memory");
  EXPECT_EQ(said(0x10000, kWorld + 0x7f00, 0x30000, reducing()), "b" + lies + "pass other memory");
  EXPECT_EQ(said(0x10000, 0x20000, kWorld + 0x100, reducing()),
            "c" + lies + "pass ovt_buffers.c or other memory");
}

TEST(OperandsTest, TheirOwnPlacesAndTheRestOfTheMemoryAreTaken) {
  EXPECT_EQ(said(kWorld, 0x20000, 0x30000, gathering()), "");
  EXPECT_EQ(said(0x10000, 0x20000, kWorld, reducing()), "");
  EXPECT_EQ(said(kWorld + 0x8000, kWorld - 0x2000, 0x30000, gathering()), "");
  EXPECT_EQ(said(0x10000, 0x20000, 0x30000, {.begin = nullptr}), "");
}

TEST(OperandsTest, AResultThatOverlapsIsRefused) {
  EXPECT_EQ(said(0x30000, 0x20000, 0x30000),
            "c: overlaps a, and is written while a is read: pass other memory");
  EXPECT_EQ(said(0x10000, 0x33f00, 0x30000),
            "c: overlaps b, and is written while b is read: pass other memory");
  EXPECT_EQ(said(0x34000, 0x2e000, 0x30000), "");  // next to each other
}

/// A has 0x40 bytes of scales, B 0x80.
std::string said_scaled(std::uintptr_t a_scales, std::uintptr_t b_scales,
                        const WrittenMemory& written = {}) {
  OperandBytes bytes = kBytes;
  bytes.a_scales = 0x40;
  bytes.b_scales = 0x80;
  const ScaleOperands scales{static_cast<const float*>(at(a_scales)),
                             static_cast<const float*>(at(b_scales))};
  return mistake_in({.a = at(0x10000), .b = at(0x20000), .c = at(0x30000), .scales = scales}, bytes,
                    written);
}

TEST(OperandsTest, ScalesAreTakenWhereTheDtypeHasThem) {
  EXPECT_EQ(said_scaled(0x40000, 0x50000), "");
  EXPECT_NE(said_scaled(0, 0x50000).find("a_scales: NULL: the dtype of this plan needs scales"),
            std::string::npos);
  EXPECT_NE(said_scaled(0x40000, 0).find("b_scales: NULL"), std::string::npos);
  EXPECT_EQ(said_scaled(0x40004, 0x50000), "a_scales: expected memory aligned to 16 bytes");
  EXPECT_EQ(said_scaled(0x40000, 0x33fc0),
            "c: overlaps b_scales, and is written while b_scales is read: pass other memory");
  EXPECT_NE(said_scaled(kWorld + 0x100, 0x50000, gathering()).find("a_scales: lies in the part"),
            std::string::npos);
  const ScaleOperands scales{static_cast<const float*>(at(0x40000)), nullptr};
  EXPECT_EQ(mistake_in({.a = at(0x10000), .b = at(0x20000), .c = at(0x30000), .scales = scales},
                       kBytes, {}),
            "a_scales: the dtype of this plan has no scales: pass NULL");
}

}  // namespace
}  // namespace overlaptune::run
