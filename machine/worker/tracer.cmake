# The tracer of a worker. Needs CUPTI's headers only: the library is loaded at run time. Included
# where a CUDA toolkit was found; without the headers the tracer is there and says so.
find_path(OVERLAPTUNE_CUPTI_INCLUDE cupti.h
  HINTS ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_TARGET_DIR}/extras/CUPTI/include
  DOC "Folder of cupti.h")
mark_as_advanced(OVERLAPTUNE_CUPTI_INCLUDE)

set(cupti cupti.cpp)
if(NOT OVERLAPTUNE_CUPTI_INCLUDE OR CUDAToolkit_VERSION VERSION_LESS 13)
  message(STATUS "Without traces of GPUs: not found: cupti.h of CUDA 13")
  set(cupti cupti_absent.cpp)
endif()

add_library(overlaptune_cuda_tracer OBJECT
  ${CMAKE_CURRENT_LIST_DIR}/${cupti}
  ${CMAKE_CURRENT_LIST_DIR}/gpu_record.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tracer.cpp)
if(OVERLAPTUNE_CUPTI_INCLUDE)
  target_include_directories(overlaptune_cuda_tracer SYSTEM PRIVATE
    ${OVERLAPTUNE_CUPTI_INCLUDE} ${CUDAToolkit_INCLUDE_DIRS})
endif()
target_link_libraries(overlaptune_cuda_tracer PUBLIC overlaptune::core
  PRIVATE fmt::fmt)
overlaptune_warnings(overlaptune_cuda_tracer)
