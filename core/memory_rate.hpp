#pragma once
// The memory bandwidth that the data sheets of GPUs state.

#include <optional>
#include <string_view>

namespace overlaptune {

/// The memory bandwidth of a GPU's data sheet, in GB/s (10^9 bytes); none for a GPU whose whole
/// name is not in the table. `gpu_model` as the driver names it: "NVIDIA H200". A slice of a GPU
/// ("NVIDIA H200 MIG 3g.71gb") has the share of its memory.
[[nodiscard]] std::optional<double> data_sheet_memory_gb_per_s(std::string_view gpu_model);

}  // namespace overlaptune
