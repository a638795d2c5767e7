# The libraries that the build needs. The system's package comes first. A library that the system lacks is
# downloaded as a pinned release where OVERLAPTUNE_FETCH is ON; otherwise an error names it, with the package
# to install. Without a network: unpack a release and pass FETCHCONTENT_SOURCE_DIR_<NAME>=<folder>.

option(OVERLAPTUNE_FETCH "Download pinned releases of libraries that the system lacks" OFF)
option(OVERLAPTUNE_LTO "Optimise across translation units at link time" OFF)

if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
   OR (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14))
  message(FATAL_ERROR "${CMAKE_CXX_COMPILER} is version ${CMAKE_CXX_COMPILER_VERSION}: overlaptune "
    "needs g++ 12 or clang 14. Install a newer one (Ubuntu 22.04: apt-get install g++-12) and "
    "configure a new build folder with -DCMAKE_CXX_COMPILER=g++-12.")
endif()

include(FetchContent)
if(POLICY CMP0135)
  cmake_policy(SET CMP0135 NEW)  # downloaded files carry the time at which they were unpacked
endif()

# overlaptune_dependency(NAME        name for find_package
#   TARGET lib::lib                  what the rooms link
#   PACKAGE libfoo-dev               the package of Debian and Ubuntu
#   URL ... SHA256 ...               the pinned release
#   [VERSION 1.2]                    the oldest that will do
#   [HEADERS include]                header-only: its include folder, inside the release
#   [OPTIONS A=B ...]                variables for the release's own CMake files
#   [WITHOUT OVERLAPTUNE_...=OFF])   the option that does without it
function(overlaptune_dependency name)
  cmake_parse_arguments(ARG "" "TARGET;PACKAGE;URL;SHA256;VERSION;HEADERS;WITHOUT" "OPTIONS" ${ARGN})
  find_package(${name} ${ARG_VERSION} QUIET)
  if(TARGET ${ARG_TARGET})
    return()
  endif()
  if(NOT OVERLAPTUNE_FETCH)
    set(line "  ${name}: apt-get install ${ARG_PACKAGE}")
    if(ARG_WITHOUT)
      string(APPEND line ", or do without it: -D${ARG_WITHOUT}")
    endif()
    set_property(GLOBAL APPEND_STRING PROPERTY OVERLAPTUNE_MISSING "${line}\n")
    return()
  endif()

  message(STATUS "${name}: not on this system, taking ${ARG_URL}")
  foreach(option IN LISTS ARG_OPTIONS)
    string(REGEX MATCH "^([^=]+)=(.*)$" _ "${option}")
    set(${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
  endforeach()
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)  # lets the variables above stand for the release's options
  set(CMAKE_POLICY_VERSION_MINIMUM 3.5)  # CMake 4 reads no older project without it
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/_deps)
  set(subfolder "")
  if(ARG_HEADERS)
    set(subfolder SOURCE_SUBDIR no-cmake-files-wanted)
  endif()
  FetchContent_Declare(${name} URL ${ARG_URL} URL_HASH SHA256=${ARG_SHA256} ${subfolder})
  FetchContent_MakeAvailable(${name})
  string(TOLOWER ${name} lower)
  if(NOT ARG_HEADERS)
    set_property(DIRECTORY ${${lower}_SOURCE_DIR} PROPERTY EXCLUDE_FROM_ALL ON)  # not installed with us
  endif()

  if(ARG_HEADERS)
    add_library(${ARG_TARGET} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${ARG_TARGET} INTERFACE ${${lower}_SOURCE_DIR}/${ARG_HEADERS})
  elseif(TARGET ${name} AND NOT TARGET ${ARG_TARGET})
    add_library(${ARG_TARGET} ALIAS ${name})
  endif()
  # The warnings of overlaptune do not apply to the headers of others.
  foreach(target IN ITEMS ${ARG_TARGET} ${name})
    if(TARGET ${target})
      get_target_property(real ${target} ALIASED_TARGET)
      if(NOT real)
        set(real ${target})
      endif()
      get_target_property(folders ${real} INTERFACE_INCLUDE_DIRECTORIES)
      set_target_properties(${real} PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${folders}")
    endif()
  endforeach()
endfunction()

find_package(Threads REQUIRED)

overlaptune_dependency(fmt TARGET fmt::fmt PACKAGE libfmt-dev
  URL https://github.com/fmtlib/fmt/archive/refs/tags/9.1.0.tar.gz
  SHA256 5dea48d1fcddc3ec571ce2058e13910a0d4a6bab4cc09a809d8b1dd1c88ae6f2)

overlaptune_dependency(tl-expected TARGET tl::expected PACKAGE libexpected-dev HEADERS include
  URL https://github.com/TartanLlama/expected/archive/refs/tags/v1.0.0.tar.gz
  SHA256 8f5124085a124113e75e3890b4e923e3a4de5b26a973b891b3deb40e19c03cee)

overlaptune_dependency(Eigen3 TARGET Eigen3::Eigen PACKAGE libeigen3-dev HEADERS .
  URL https://gitlab.com/libeigen/eigen/-/archive/3.4.0/eigen-3.4.0.tar.bz2
  SHA256 b4c198460eba6f28d34894e3a5710998818515104d6e74e5cc331ce31e46e626)

overlaptune_dependency(spdlog TARGET spdlog::spdlog PACKAGE libspdlog-dev
  OPTIONS SPDLOG_FMT_EXTERNAL=ON
  URL https://github.com/gabime/spdlog/archive/v1.10.0.tar.gz
  SHA256 697f91700237dbae2326b90469be32b876b2b44888302afbc7aceb68bcfe8224)

overlaptune_dependency(nlohmann_json TARGET nlohmann_json::nlohmann_json PACKAGE nlohmann-json3-dev
  HEADERS include
  URL https://github.com/nlohmann/json/archive/refs/tags/v3.11.2.tar.gz
  SHA256 d69f9deb6a75e2580465c6c4c5111b89c4dc2fa94e3a85fcd2ffcd9a143d9273)

# XXH3, which seals rows of databases, is the same since release 0.8.0.
overlaptune_dependency(xxHash TARGET xxHash::xxhash PACKAGE libxxhash-dev HEADERS .
  URL https://github.com/Cyan4973/xxHash/archive/refs/tags/v0.8.1.tar.gz
  SHA256 3bb6b7d6f30c591dd65aaaff1c8b7a5b94d81687998ca9400082c739a690436c)

overlaptune_dependency(CLI11 TARGET CLI11::CLI11 PACKAGE libcli11-dev HEADERS include
  URL https://github.com/CLIUtils/CLI11/archive/v2.1.2.tar.gz
  SHA256 26291377e892ba0e5b4972cdfd4a2ab3bf53af8dac1f4ea8fe0d1376b625c8cb)

# These libraries are linked statically, because a build folder also runs on hosts that lack them.
get_target_property(fmt_type fmt::fmt TYPE)
if(fmt_type STREQUAL "SHARED_LIBRARY")
  add_library(overlaptune_text STATIC ${CMAKE_CURRENT_LIST_DIR}/text_libraries.cpp)
  target_compile_definitions(overlaptune_text PUBLIC SPDLOG_COMPILED_LIB SPDLOG_FMT_EXTERNAL)
  foreach(target fmt::fmt spdlog::spdlog)
    get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
    target_include_directories(overlaptune_text SYSTEM PUBLIC ${folders})
  endforeach()
  target_link_libraries(overlaptune_text PUBLIC Threads::Threads)
  overlaptune_hidden(overlaptune_text)
  add_library(overlaptune::fmt ALIAS overlaptune_text)
  add_library(overlaptune::spdlog ALIAS overlaptune_text)
else()
  foreach(name fmt spdlog)
    add_library(overlaptune_${name} INTERFACE)
    target_link_libraries(overlaptune_${name} INTERFACE ${name}::${name})
    add_library(overlaptune::${name} ALIAS overlaptune_${name})
  endforeach()
endif()
find_library(SQLite3_LIBRARY NAMES libsqlite3.a sqlite3)

# STRICT tables need SQLite 3.37. SQLiteCpp's release carries SQLite, and builds it where the system has none.
find_package(SQLite3 3.37 QUIET)
if(SQLite3_FOUND)
  set(bundled_sqlite OFF)
  set_property(TARGET SQLite::SQLite3 APPEND PROPERTY INTERFACE_LINK_LIBRARIES
    Threads::Threads ${CMAKE_DL_LIBS} m)
else()
  set(bundled_sqlite ON)
endif()
overlaptune_dependency(SQLiteCpp TARGET SQLiteCpp PACKAGE "libsqlite3-dev libsqlitecpp-dev"
  OPTIONS SQLITECPP_INTERNAL_SQLITE=${bundled_sqlite} SQLITECPP_RUN_CPPLINT=OFF
          SQLITECPP_RUN_CPPCHECK=OFF
  URL https://github.com/SRombauts/SQLiteCpp/archive/refs/tags/3.2.1.tar.gz
  SHA256 70c67d5680c47460f82a7abf8e6b0329bf2fb10795a982a6d8abc06adb42d693)

# libsodium's release has no CMake files, so it is never downloaded. It is linked statically, as above.
find_library(SODIUM_LIBRARY NAMES libsodium.a sodium)
find_path(SODIUM_INCLUDE_DIR sodium.h)
if(SODIUM_LIBRARY AND SODIUM_INCLUDE_DIR)
  add_library(sodium::sodium UNKNOWN IMPORTED)
  set_target_properties(sodium::sodium PROPERTIES IMPORTED_LOCATION ${SODIUM_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${SODIUM_INCLUDE_DIR} INTERFACE_LINK_LIBRARIES Threads::Threads)
else()
  set_property(GLOBAL APPEND_STRING PROPERTY OVERLAPTUNE_MISSING
    "  libsodium: apt-get install libsodium-dev (OVERLAPTUNE_FETCH does not download it)\n")
endif()

if(OVERLAPTUNE_BUILD_TESTS)
  overlaptune_dependency(GTest TARGET GTest::gmock PACKAGE libgmock-dev
    WITHOUT OVERLAPTUNE_BUILD_TESTS=OFF OPTIONS INSTALL_GTEST=OFF
    URL https://github.com/google/googletest/archive/refs/tags/release-1.12.1.tar.gz
    SHA256 81964fe578e9bd7c94dfdb09c8e4d6e6759e19967e397dbea48d1c10e45d0df2)
endif()

if(OVERLAPTUNE_BUILD_BENCHMARKS)
  overlaptune_dependency(benchmark TARGET benchmark::benchmark_main PACKAGE libbenchmark-dev
    WITHOUT OVERLAPTUNE_BUILD_BENCHMARKS=OFF
    OPTIONS BENCHMARK_ENABLE_TESTING=OFF BENCHMARK_ENABLE_INSTALL=OFF
    URL https://github.com/google/benchmark/archive/refs/tags/v1.7.1.tar.gz
    SHA256 6430e4092653380d9dc4ccb45a1e2dc9259d581f4866dc0759713126056bc1d7)
endif()

get_property(missing GLOBAL PROPERTY OVERLAPTUNE_MISSING)
if(missing)
  message(FATAL_ERROR "Libraries that overlaptune needs are not here:\n${missing}"
    "or have pinned releases downloaded: -DOVERLAPTUNE_FETCH=ON")
endif()

if(OVERLAPTUNE_LTO)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
endif()
