# The header of xxHash, which is all that is used of it (XXH_INLINE_ALL): xxHash::xxhash. Its release has a
# CMake file, but the packages of Debian and Ubuntu have none.
find_path(xxHash_INCLUDE_DIR xxhash.h)
mark_as_advanced(xxHash_INCLUDE_DIR)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(xxHash REQUIRED_VARS xxHash_INCLUDE_DIR)
if(xxHash_FOUND AND NOT TARGET xxHash::xxhash)
  add_library(xxHash::xxhash INTERFACE IMPORTED GLOBAL)
  target_include_directories(xxHash::xxhash INTERFACE ${xxHash_INCLUDE_DIR})
endif()
