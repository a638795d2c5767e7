# The page of `report --format html`: reports/html bundled by esbuild into one file, which becomes part of the
# program. npm brings the libraries when CMake configures, as package-lock.json pins them; the build itself needs
# no network.
set(OVERLAPTUNE_HTML AUTO CACHE STRING "Build the HTML report: AUTO (where npm is there), ON, OFF")
set_property(CACHE OVERLAPTUNE_HTML PROPERTY STRINGS AUTO ON OFF)

set(page_folder ${CMAKE_CURRENT_SOURCE_DIR}/html)
set(page "")

# Puts the packages into ${page_folder}/node_modules, unless they are there. Sets `failure`.
function(overlaptune_page_packages)
  set(failure "" PARENT_SCOPE)
  find_program(NODE_PROGRAM NAMES node nodejs)
  find_program(NPM_PROGRAM npm)
  if(NOT NODE_PROGRAM OR NOT NPM_PROGRAM)
    set(failure "nodejs and npm are not here: apt-get install nodejs npm" PARENT_SCOPE)
    return()
  endif()
  # npm ends with this file.
  set(installed ${page_folder}/node_modules/.package-lock.json)
  if(EXISTS ${installed} AND NOT ${page_folder}/package-lock.json IS_NEWER_THAN ${installed})
    return()
  endif()
  message(STATUS "npm ci in ${page_folder}")
  execute_process(COMMAND ${NPM_PROGRAM} ci --ignore-scripts WORKING_DIRECTORY ${page_folder}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result)
    set(failure "`npm ci` in ${page_folder} failed:\n${output}" PARENT_SCOPE)
  endif()
endfunction()

if(NOT OVERLAPTUNE_HTML STREQUAL "OFF")
  overlaptune_page_packages()
  if(NOT failure)
    set(page ${CMAKE_CURRENT_BINARY_DIR}/page.html)
  elseif(OVERLAPTUNE_HTML STREQUAL "ON")
    message(FATAL_ERROR "OVERLAPTUNE_HTML=ON: ${failure}")
  else()
    message(STATUS "`report --format html` is not built: ${failure}")
  endif()
endif()

if(page)
  file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS ${page_folder}/src/*)
  add_custom_command(
    OUTPUT ${page}
    COMMAND ${NODE_PROGRAM} ${page_folder}/build.mjs ${page}
    DEPENDS ${page_sources} ${page_folder}/build.mjs ${page_folder}/package-lock.json
    VERBATIM)
endif()

set(embedded_page ${CMAKE_CURRENT_BINARY_DIR}/embedded_page.cpp)
add_custom_command(
  OUTPUT ${embedded_page}
  COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${embedded_page}" "-DFILES=${page}" -DHEADER=reports/html_report.hpp
          -DNAMESPACE=overlaptune -DTYPE=EmbeddedPage -DFUNCTION=embedded_pages
          -P ${PROJECT_SOURCE_DIR}/cmake/embed_texts.cmake
  DEPENDS ${page} ${PROJECT_SOURCE_DIR}/cmake/embed_texts.cmake
  VERBATIM)
