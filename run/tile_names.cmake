# Writes OUTPUT from cuBLASLt's header HEADER: one line `{id, m, n},` for each tile shape.
file(STRINGS ${HEADER} lines REGEX "CUBLASLT_MATMUL_TILE_[0-9]+x[0-9]+ += [0-9]+")
set(table "")
foreach(line IN LISTS lines)
  string(REGEX MATCH "TILE_([0-9]+)x([0-9]+) += ([0-9]+)" _ "${line}")
  string(APPEND table "{${CMAKE_MATCH_3}, ${CMAKE_MATCH_1}, ${CMAKE_MATCH_2}},\n")
endforeach()
file(WRITE ${OUTPUT} "${table}")
