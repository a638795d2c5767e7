# Headers of other projects that most sources include, compiled once for the rooms and once for the
# tests. A source still names all that it uses: `scripts/test --only alone,headers` reads it without them.

option(OVERLAPTUNE_FAST_COMPILE
  "Precompile headers of other projects, and compile several sources of a target together" ON)

set(common_headers <algorithm> <array> <chrono> <cmath> <cstdint> <functional> <limits> <map> <memory>
  <optional> <set> <span> <string> <string_view> <utility> <variant> <vector> <fmt/format.h>
  <fmt/ranges.h> <tl/expected.hpp>)

# overlaptune_precompile(NAME header ...): makes a target whose headers others use. Their compile options
# must be the same, and they must have all of its definitions, or g++ and clang refuse the headers;
# so it takes the include folders of fmt alone.
function(overlaptune_precompile name)
  set(source ${CMAKE_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "")
  add_library(${name} OBJECT ${source})
  target_precompile_headers(${name} PRIVATE ${ARGN})
  foreach(library overlaptune::fmt tl::expected)
    target_include_directories(${name} SYSTEM PRIVATE
      $<TARGET_PROPERTY:${library},INTERFACE_INCLUDE_DIRECTORIES>)
  endforeach()
  overlaptune_warnings(${name})
endfunction()

# overlaptune_use_precompiled(TARGET NAME)
function(overlaptune_use_precompiled target name)
  if(OVERLAPTUNE_FAST_COMPILE)
    target_precompile_headers(${target} REUSE_FROM ${name})
    # ccache can only keep what was compiled with such headers if they are named in the sources.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  endif()
endfunction()

# overlaptune_compile_together(TARGET): most of a source's time goes to headers that its neighbours include, too.
# So no two sources of a target may give the same name to different things, also in unnamed namespaces.
function(overlaptune_compile_together target)
  # Rooms whose lines `scripts/fuzz` counts: those of the sources that a fuzzer links.
  set(counted overlaptune_db overlaptune_json overlaptune_query)
  if(NOT OVERLAPTUNE_FAST_COMPILE OR (OVERLAPTUNE_FUZZERS AND target IN_LIST counted))
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "^${CMAKE_BINARY_DIR}/")  # made by the build: clang-tidy reads before it
  if(sources)
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()
