# `cpack` in the build folder makes Debian packages, one for each part of Install.cmake.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "The overlaptune developers")
set(CPACK_PACKAGE_CONTACT "The overlaptune developers <developers@overlaptune.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
find_program(OVERLAPTUNE_DPKG_SHLIBDEPS dpkg-shlibdeps DOC "Finds what packages depend on")
mark_as_advanced(OVERLAPTUNE_DPKG_SHLIBDEPS)
if(OVERLAPTUNE_DPKG_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()

# overlaptune_package(COMPONENT NAME SECTION "one line" [variables of CPack's, as DEPENDS "a, b" ...])
macro(overlaptune_package component name section summary)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}")
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${name}
    COMPONENT ${component})
endmacro()

set(same_version "(= ${PROJECT_VERSION})")
overlaptune_package(tool overlaptune devel
  "The command line tool; overlaptune-worker beside it lets it measure NVIDIA GPUs")
overlaptune_package(query liboverlaptune${PROJECT_VERSION_MAJOR} libs
  "Answers of overlaptune to other programs: shared library")
overlaptune_package(query-dev liboverlaptune-dev libdevel
  "Answers of overlaptune to other programs: headers and static library")
set(CPACK_DEBIAN_QUERY-DEV_PACKAGE_DEPENDS "liboverlaptune${PROJECT_VERSION_MAJOR} ${same_version}")
if(TARGET overlaptune-worker)
  overlaptune_package(worker overlaptune-worker devel
    "Measures and tunes NVIDIA GPUs for overlaptune (needs NCCL and cuBLASLt)")
  set(CPACK_DEBIAN_TOOL_PACKAGE_SUGGESTS overlaptune-worker)
  set(CPACK_DEBIAN_WORKER_PACKAGE_DEPENDS "overlaptune ${same_version}")
endif()
if(TARGET overlaptune_run_shared)
  overlaptune_package(run liboverlaptune-run${PROJECT_VERSION_MAJOR} libs
    "Runs a GEMM overlapped with its collective: shared library (needs NCCL and cuBLASLt)")
  overlaptune_package(run-dev liboverlaptune-run-dev libdevel
    "Runs a GEMM overlapped with its collective: header")
  set(CPACK_DEBIAN_RUN-DEV_PACKAGE_DEPENDS "liboverlaptune-run${PROJECT_VERSION_MAJOR} ${same_version}, liboverlaptune-dev ${same_version}")
endif()

include(CPack)
