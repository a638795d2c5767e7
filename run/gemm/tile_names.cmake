# Makes include/run/gemm/tile_names.inc in the build folder from cuBLASLt's header: one line `{id, m, n},` for
# each tile shape.
find_file(cublaslt_header cublasLt.h HINTS ${CUDAToolkit_INCLUDE_DIRS} REQUIRED)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${cublaslt_header})
file(STRINGS ${cublaslt_header} lines REGEX "CUBLASLT_MATMUL_TILE_[0-9]+x[0-9]+ += [0-9]+")
set(table "")
foreach(line IN LISTS lines)
  string(REGEX MATCH "TILE_([0-9]+)x([0-9]+) += ([0-9]+)" _ "${line}")
  string(APPEND table "{${CMAKE_MATCH_3}, ${CMAKE_MATCH_1}, ${CMAKE_MATCH_2}},\n")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/include/run/gemm/tile_names.inc CONTENT "${table}" @ONLY)
