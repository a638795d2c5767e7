# The CUDA toolkit and NCCL. Sets OVERLAPTUNE_HAS_CUDA: whether the CUDA machine is built. Without it
# everything else is built.

set(OVERLAPTUNE_CUDA AUTO CACHE STRING "Build the CUDA machine: AUTO (where all is there), ON, OFF")
set_property(CACHE OVERLAPTUNE_CUDA PROPERTY STRINGS AUTO ON OFF)

set(OVERLAPTUNE_HAS_CUDA OFF)
if(OVERLAPTUNE_CUDA STREQUAL "OFF")
  return()
endif()

set(lacking "")
# cudaLibraryLoadData is in the runtime since 12.8, and that nvcc knows sm_100 and sm_120.
find_package(CUDAToolkit 12.8 QUIET)
if(CUDAToolkit_FOUND)
  if(NOT CMAKE_CUDA_COMPILER)
    find_program(CMAKE_CUDA_COMPILER nvcc HINTS ${CUDAToolkit_BIN_DIR})
  endif()
  if(NOT CMAKE_CUDA_COMPILER)
    string(APPEND lacking " nvcc")
  endif()
  foreach(target cudart_static cublasLt)
    if(NOT TARGET CUDA::${target})
      string(APPEND lacking " ${target}")
    endif()
  endforeach()
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ENV NCCL_HOME
    PATH_SUFFIXES include)
  find_library(NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT}
    ENV NCCL_HOME PATH_SUFFIXES lib lib64)
  if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
    file(STRINGS ${NCCL_INCLUDE_DIR}/nccl.h version REGEX "#define NCCL_VERSION_CODE")
    string(REGEX MATCH "[0-9]+" version "${version}")
    if(version LESS 22800)  # ncclCommWindowRegister of 2.27, ncclAlltoAll of 2.28
      string(APPEND lacking " NCCL>=2.28")
    endif()
  else()
    string(APPEND lacking " NCCL")
  endif()
else()
  string(APPEND lacking " toolkit>=12.8")
endif()

if(lacking)
  if(NOT OVERLAPTUNE_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "OVERLAPTUNE_CUDA=${OVERLAPTUNE_CUDA}: not found:${lacking}. Install it, set "
      "CUDAToolkit_ROOT or NCCL_HOME, or do without it: -DOVERLAPTUNE_CUDA=OFF")
  endif()
  message(STATUS "Without the CUDA machine: not found:${lacking}")
  return()
endif()

enable_language(CUDA)
# CMake before 3.26 does not know that nvcc 12 and later speak C++20.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
add_library(NCCL::nccl UNKNOWN IMPORTED)
set_target_properties(NCCL::nccl PROPERTIES IMPORTED_LOCATION ${NCCL_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES ${NCCL_INCLUDE_DIR}
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${NCCL_INCLUDE_DIR})
set(OVERLAPTUNE_HAS_CUDA ON)
message(STATUS "CUDA machine: toolkit ${CUDAToolkit_VERSION}, ${NCCL_LIBRARY}")
