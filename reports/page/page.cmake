# The page of `report --format html`: reports/html bundled by esbuild into one file, which becomes part of the
# program. npm brings the libraries when CMake configures, as package-lock.json pins them; the build itself needs
# no network.
include(Npm)
set(OVERLAPTUNE_HTML AUTO CACHE STRING "Build the HTML report: AUTO (where npm is there), ON, OFF")
set_property(CACHE OVERLAPTUNE_HTML PROPERTY STRINGS AUTO ON OFF)

set(page_folder ${CMAKE_CURRENT_SOURCE_DIR}/html)
set(page "")
if(NOT OVERLAPTUNE_HTML STREQUAL "OFF")
  overlaptune_npm_packages(${page_folder} page_failure)
  if(NOT page_failure)
    set(page ${CMAKE_CURRENT_BINARY_DIR}/page.html)
  elseif(OVERLAPTUNE_HTML STREQUAL "ON")
    message(FATAL_ERROR "OVERLAPTUNE_HTML=ON: ${page_failure}")
  else()
    message(STATUS "`report --format html` is not built: ${page_failure}")
  endif()
endif()
set_property(GLOBAL PROPERTY OVERLAPTUNE_PAGE "${page}")  # empty: not built

if(page)
  file(GLOB page_sources CONFIGURE_DEPENDS ${page_folder}/src/*)
  add_custom_command(
    OUTPUT ${page}
    COMMAND ${NODE_PROGRAM} ${page_folder}/build.mjs ${page}
    DEPENDS ${page_sources} ${page_folder}/build.mjs ${page_folder}/package-lock.json
    VERBATIM)
endif()

set(embedded_page ${CMAKE_CURRENT_BINARY_DIR}/embedded_page.cpp)
add_custom_command(
  OUTPUT ${embedded_page}
  COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${embedded_page}" "-DFILES=${page}" -DHEADER=reports/page/html_report.hpp
          -DNAMESPACE=overlaptune -DTYPE=EmbeddedPage -DFUNCTION=embedded_pages
          -P ${PROJECT_SOURCE_DIR}/cmake/embed_texts.cmake
  DEPENDS ${page} ${PROJECT_SOURCE_DIR}/cmake/embed_texts.cmake
  VERBATIM)
