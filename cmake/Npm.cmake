# Packages from npm, for folders with a package.json and its lock file.

# overlaptune_npm_packages(FOLDER FAILURE): puts the packages of the folder's package-lock.json into its
# node_modules, unless they are there. FAILURE is set to the reason where that is not possible, else to "".
# Sets NODE_PROGRAM.
function(overlaptune_npm_packages folder failure)
  set(${failure} "" PARENT_SCOPE)
  find_program(NODE_PROGRAM NAMES node nodejs)
  find_program(NPM_PROGRAM npm)
  if(NOT NODE_PROGRAM OR NOT NPM_PROGRAM)
    set(${failure} "nodejs and npm are not here: apt-get install nodejs npm" PARENT_SCOPE)
    return()
  endif()
  set(last ${folder}/node_modules/.package-lock.json)  # npm writes this file last
  if(EXISTS ${last} AND NOT ${folder}/package-lock.json IS_NEWER_THAN ${last})
    return()
  endif()
  message(STATUS "npm ci in ${folder}")
  execute_process(COMMAND ${NPM_PROGRAM} ci --ignore-scripts WORKING_DIRECTORY ${folder}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result)
    set(${failure} "`npm ci` in ${folder} failed:\n${output}" PARENT_SCOPE)
  else()
    file(TOUCH ${last})
  endif()
endfunction()
