# find_package(overlaptune CONFIG REQUIRED COMPONENTS query): the libraries that are installed here,
# as overlaptune::query_shared, overlaptune::query_static, ...; docs/api.md lists them.
include(CMakeFindDependencyMacro)
find_dependency(Threads)

file(GLOB overlaptune_files "${CMAKE_CURRENT_LIST_DIR}/overlaptune-*-targets.cmake")
set(overlaptune_installed "")
foreach(overlaptune_file IN LISTS overlaptune_files)
  if(overlaptune_file MATCHES "overlaptune-run-targets")
    # A program that only queries need not have CUDA; run.h includes the headers of CUDA and nccl.h.
    if(NOT "run" IN_LIST overlaptune_FIND_COMPONENTS)
      continue()
    endif()
    find_package(CUDAToolkit QUIET)
    if(NOT CUDAToolkit_FOUND)
      continue()
    endif()
  endif()
  include("${overlaptune_file}")
  string(REGEX REPLACE ".*/overlaptune-(.*)-targets.cmake$" "\\1" overlaptune_component
    "${overlaptune_file}")
  set(overlaptune_${overlaptune_component}_FOUND TRUE)
  list(APPEND overlaptune_installed ${overlaptune_component})
endforeach()

foreach(overlaptune_component IN LISTS overlaptune_FIND_COMPONENTS)
  if(NOT overlaptune_${overlaptune_component}_FOUND
     AND overlaptune_FIND_REQUIRED_${overlaptune_component})
    set(overlaptune_FOUND FALSE)
    string(APPEND overlaptune_NOT_FOUND_MESSAGE
      "component '${overlaptune_component}' is not installed in ${CMAKE_CURRENT_LIST_DIR}: expected "
      "one of: ${overlaptune_installed}. (run needs a build of overlaptune with CUDA and NCCL, and here the CUDA toolkit.)\n")
  endif()
endforeach()
