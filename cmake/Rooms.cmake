# One room of the program: a static library, its alias, and what it may include.

# overlaptune_room(NAME SOURCES a.cpp ... LINKS overlaptune::core ...)
function(overlaptune_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(overlaptune_${name} STATIC ${ROOM_SOURCES})
  add_library(overlaptune::${name} ALIAS overlaptune_${name})
  target_include_directories(overlaptune_${name} PUBLIC ${PROJECT_SOURCE_DIR} ${OVERLAPTUNE_GENERATED})
  target_link_libraries(overlaptune_${name} PUBLIC ${ROOM_LINKS} PRIVATE ${ROOM_PRIVATE_LINKS})
  # Rooms also become part of the shared library of `query/`, which shows only its `ovt_` functions.
  overlaptune_hidden(overlaptune_${name})
  overlaptune_warnings(overlaptune_${name})
  overlaptune_use_precompiled(overlaptune_${name} room_headers)
  overlaptune_compile_together(overlaptune_${name})
endfunction()

# Marks code that may be in several libraries of one process: each library has its own copy.
function(overlaptune_hidden target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()

function(overlaptune_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
    -Wno-missing-field-initializers $<$<BOOL:${OVERLAPTUNE_WERROR}>:-Werror>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # g++ 12 warns of std::operator+(const char*, std::string&&) (GCC bug 105651), and of the inactive
    # members of a std::variant that is moved (GCC bug 105562).
    target_compile_options(${target} PRIVATE -Wno-restrict -Wno-stringop-overflow
      -Wno-array-bounds -Wno-maybe-uninitialized)
  endif()
endfunction()
