# The shipped results: the databases of docs/results in one, OVERLAPTUNE_SHIPPED, by the target system_database. There is
# none where gzip is missing, or where the program that makes it may not start: with a sanitizer's runtime in it.
find_program(OVERLAPTUNE_GZIP gzip DOC "Unpacks the results of docs/results")
mark_as_advanced(OVERLAPTUNE_GZIP)
if(NOT OVERLAPTUNE_GZIP OR CMAKE_CROSSCOMPILING OR CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
  return()
endif()
# The newest of each kind of host: a model that learns from kernels of before answers worse.
set(results 2026-11-25-h100-nvlink-x2 2026-11-30-h200-nvlink-x2 2026-11-28-h200-nvlink-x4 2026-11-22-h200-nvlink-x8)
list(TRANSFORM results REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/docs/results/\\1.json.gz")
set(OVERLAPTUNE_SHIPPED ${CMAKE_BINARY_DIR}/system.db)
add_custom_command(OUTPUT ${OVERLAPTUNE_SHIPPED}
  COMMAND ${PROJECT_SOURCE_DIR}/cmake/system_database.sh $<TARGET_FILE:overlaptune> ${OVERLAPTUNE_SHIPPED}
          ${results}
  DEPENDS overlaptune ${PROJECT_SOURCE_DIR}/cmake/system_database.sh ${results} VERBATIM)
add_custom_target(system_database ALL DEPENDS ${OVERLAPTUNE_SHIPPED})
