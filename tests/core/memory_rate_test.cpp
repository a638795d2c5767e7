#include "core/memory_rate.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

/// The figures of the products' data sheets, under the names that drivers give them.
TEST(MemoryRate, is_that_of_the_whole_name) {
  const std::map<std::string, double> rates{{"NVIDIA H200", 4800},
                                            {"NVIDIA H200 NVL", 4800},
                                            {"NVIDIA GH200 480GB", 4000},
                                            {"NVIDIA GH200 144G HBM3e", 4900},
                                            {"NVIDIA H100 80GB HBM3", 3350},
                                            {"NVIDIA H100 PCIe", 2000},
                                            {"NVIDIA H100 NVL", 3938},
                                            {"NVIDIA H20", 4000},
                                            {"NVIDIA B200", 8000},
                                            {"NVIDIA A100-SXM4-80GB", 2039},
                                            {"NVIDIA A100 80GB PCIe", 1935},
                                            {"NVIDIA A100-SXM4-40GB", 1555},
                                            {"NVIDIA A100-PCIE-40GB", 1555},
                                            {"NVIDIA L40S", 864},
                                            {"NVIDIA GeForce RTX 4090", 1008},
                                            {"NVIDIA A30", 933},
                                            {"Tesla V100-SXM2-16GB", 900},
                                            {"Tesla V100-SXM2-32GB", 900},
                                            {"Tesla V100-PCIE-16GB", 900},
                                            {"Tesla V100-PCIE-32GB", 900},
                                            {"Tesla V100S-PCIE-32GB", 1134}};
  for (const auto& [name, rate] : rates) EXPECT_EQ(data_sheet_memory_gb_per_s(name), rate) << name;
}

/// A part of each of these is the name of another product.
TEST(MemoryRate, is_not_that_of_a_part_of_the_name) {
  for (const char* name :
       {"NVIDIA H20-3e", "NVIDIA H800", "NVIDIA H800 PCIe", "NVIDIA GB200", "NVIDIA H100 64GB HBM2",
        "NVIDIA H100", "NVIDIA A100", "NVIDIA L40", "NVIDIA L40S-48Q", "NVIDIA H100XM-80C",
        "NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA H200 (2)", "H200 NVIDIA", "NVIDIA ", ""}) {
    EXPECT_EQ(data_sheet_memory_gb_per_s(name), std::nullopt) << name;
  }
}

/// Shares from the tables of the MIG User Guide.
TEST(MemoryRate, of_a_slice_is_its_share) {
  const std::map<std::string, double> rates{{"NVIDIA H200 MIG 1g.18gb", 4800 / 8.0},
                                            {"NVIDIA H200 MIG 1g.35gb", 4800 / 4.0},
                                            {"NVIDIA H200 MIG 3g.71gb", 4800 / 2.0},
                                            {"NVIDIA H200 MIG 7g.141gb", 4800},
                                            {"NVIDIA H100 80GB HBM3 MIG 1g.10gb", 3350 / 8.0},
                                            {"NVIDIA H100 80GB HBM3 MIG 1g.10gb+me", 3350 / 8.0},
                                            {"NVIDIA H100 80GB HBM3 MIG 2c.3g.40gb", 3350 / 2.0},
                                            {"NVIDIA H100 NVL MIG 3g.47gb", 3938 / 2.0},
                                            {"NVIDIA H200 NVL MIG 4g.71gb", 4800 / 2.0},
                                            {"NVIDIA H100 PCIe MIG 3g.40gb", 2000 / 2.0},
                                            {"NVIDIA H20 MIG 2g.24gb", 4000 / 4.0},
                                            {"NVIDIA GH200 480GB MIG 1g.12gb", 4000 / 8.0},
                                            {"NVIDIA GH200 144G HBM3e MIG 1g.18gb", 4900 / 8.0},
                                            {"NVIDIA A100-SXM4-80GB MIG 3g.40gb", 2039 / 2.0},
                                            {"NVIDIA A100 80GB PCIe MIG 1g.20gb", 1935 / 4.0},
                                            {"NVIDIA A100-PCIE-40GB MIG 1g.5gb", 1555 / 8.0},
                                            {"NVIDIA A100-SXM4-40GB MIG 2g.10gb", 1555 / 4.0},
                                            {"NVIDIA B200 MIG 1g.23gb", 8000 / 8.0},
                                            {"NVIDIA A30 MIG 1g.6gb", 933 / 4.0},
                                            {"NVIDIA A30 MIG 4g.24gb", 933}};
  for (const auto& [name, rate] : rates) EXPECT_EQ(data_sheet_memory_gb_per_s(name), rate) << name;
}

TEST(MemoryRate, of_a_slice_that_cannot_be_read_is_not_known) {
  for (const char* slice : {"", "1g", "10gb", "1g.10", "1g.10mb", "1g.gb", "1g.0gb", "7g.800gb",
                            "1g.-10gb", "1c.10gb", "1g.10gb 2"}) {
    const std::string name = std::string("NVIDIA H100 80GB HBM3 MIG ") + slice;
    EXPECT_EQ(data_sheet_memory_gb_per_s(name), std::nullopt) << name;
  }
  EXPECT_EQ(data_sheet_memory_gb_per_s("NVIDIA L40S MIG 1g.6gb"), std::nullopt);
}

}  // namespace
}  // namespace overlaptune
