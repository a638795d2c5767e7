# The parts that `cmake --install` installs. Each is also a Debian package (Packages.cmake).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/overlaptune)

# Gives an installed target, already in the build folder, the RUNPATH that it has when it is installed: the
# folders of NCCL and cuBLASLt, which are known here; often the loader does not look there. A RUNPATH of the
# build folder alone would be padded with ":" up to the length of the other one, and an empty entry is the
# current folder.
function(overlaptune_runpath target)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON BUILD_WITH_INSTALL_RPATH ON)
endfunction()

# overlaptune_install_library(COMPONENT     what find_package(overlaptune COMPONENTS ...) calls it
#   SHARED target [STATIC target]           STATIC: its property STATIC_NEEDS lists what to link beside it
#   INTERFACE target                        carries the headers' folder
#   HEADERS a.h ...                         of include/overlaptune
#   DESCRIPTION "one line")
# Installs the libraries, their headers, a file of targets, and NAME.pc by the library's OUTPUT_NAME.
function(overlaptune_install_library component)
  cmake_parse_arguments(LIB "" "SHARED;STATIC;INTERFACE;DESCRIPTION" "HEADERS" ${ARGN})
  set(development ${component}-dev)
  foreach(kind shared static interface)
    string(TOUPPER ${kind} upper)
    if(LIB_${upper})
      set_target_properties(${LIB_${upper}} PROPERTIES EXPORT_NAME ${component}_${kind})
    endif()
  endforeach()
  overlaptune_runpath(${LIB_SHARED})
  install(TARGETS ${LIB_SHARED} ${LIB_STATIC} ${LIB_INTERFACE} EXPORT overlaptune-${component}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
      COMPONENT ${component} NAMELINK_COMPONENT ${development}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${development}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT overlaptune-${component} FILE overlaptune-${component}-targets.cmake
    NAMESPACE overlaptune:: DESTINATION ${config_folder} COMPONENT ${development})
  list(TRANSFORM LIB_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/include/overlaptune/)
  install(FILES ${LIB_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/overlaptune
    COMPONENT ${development})

  # The .pc file gives paths relative to its own place, so that an installed tree may be moved.
  get_target_property(name ${LIB_SHARED} OUTPUT_NAME)
  set(pc_folder ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
  foreach(place IN ITEMS PREFIX FULL_LIBDIR FULL_INCLUDEDIR)
    file(RELATIVE_PATH from_pc_${place} ${pc_folder} ${CMAKE_INSTALL_${place}})
  endforeach()
  set(private_libs "")
  if(LIB_STATIC)
    get_target_property(private_libs ${LIB_STATIC} STATIC_NEEDS)
    list(TRANSFORM private_libs PREPEND -l)
    list(JOIN private_libs " " private_libs)
    string(APPEND private_libs " -pthread")
  endif()
  set(requires "")
  if(NOT component STREQUAL query)
    set(requires overlaptune)  # every other library includes its header
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/library.pc.in ${CMAKE_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT ${development})
endfunction()

overlaptune_install_library(query
  SHARED overlaptune_query_shared STATIC overlaptune_query_static INTERFACE overlaptune_query_interface
  HEADERS overlaptune.h overlaptune.hpp
  DESCRIPTION "Answers from a tuning database: how to overlap a GEMM with its collective")
if(TARGET overlaptune_run_shared)
  overlaptune_install_library(run
    SHARED overlaptune_run_shared INTERFACE overlaptune_run_interface HEADERS run.h
    DESCRIPTION "Runs a GEMM overlapped with its collective, as a tuning database says")
endif()

write_basic_package_version_file(${CMAKE_BINARY_DIR}/overlaptune-config-version.cmake
  COMPATIBILITY SameMajorVersion)  # as the soname, see docs/api.md
install(FILES ${PROJECT_SOURCE_DIR}/cmake/overlaptune-config.cmake
              ${CMAKE_BINARY_DIR}/overlaptune-config-version.cmake
  DESTINATION ${config_folder} COMPONENT query-dev)

# The command line tool. Its worker is a part of its own: it needs NCCL and cuBLASLt.
overlaptune_runpath(overlaptune)
install(TARGETS overlaptune RUNTIME COMPONENT tool)
# Everything that `cmake --install` copies; it fails where one of these was not built.
add_custom_target(installable DEPENDS overlaptune overlaptune_query_shared overlaptune_query_static)
if(TARGET overlaptune_run_shared)
  add_dependencies(installable overlaptune_run_shared)
endif()
if(TARGET overlaptune-worker)
  add_dependencies(installable overlaptune-worker)
  overlaptune_runpath(overlaptune-worker)
  install(TARGETS overlaptune-worker RUNTIME COMPONENT worker)
endif()
# A program with a sanitizer's runtime in it may not start here.
if(NOT CMAKE_CROSSCOMPILING AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
  set(man_folder ${CMAKE_BINARY_DIR}/man)
  set(man_sources ${PROJECT_SOURCE_DIR}/scripts/cli-docs ${PROJECT_SOURCE_DIR}/cmake/man_page.awk)
  add_custom_command(OUTPUT ${man_folder}/overlaptune.1
    COMMAND ${PROJECT_SOURCE_DIR}/scripts/cli-docs man $<TARGET_FILE:overlaptune> ${man_folder}
    DEPENDS overlaptune ${man_sources} VERBATIM)
  add_custom_target(man_pages ALL DEPENDS ${man_folder}/overlaptune.1)
  add_dependencies(installable man_pages)
  install(DIRECTORY ${man_folder}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tool)
endif()
# The library reads them under a user's own results.
if(TARGET system_database)
  add_dependencies(installable system_database)
  install(FILES ${OVERLAPTUNE_SHIPPED} DESTINATION ${CMAKE_INSTALL_DATADIR}/overlaptune COMPONENT query)
endif()
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool)
