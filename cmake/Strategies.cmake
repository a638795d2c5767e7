# A strategy has sources in several rooms, and one header in each, its sides. strategies/CMakeLists.txt calls these.

set(OVERLAPTUNE_GENERATED ${PROJECT_BINARY_DIR}/generated)

# overlaptune_strategy(NAME CORE a.cpp ... MODEL b.cpp ... SIM c.cpp ... RUN d.cpp ...): gives the rooms the sources.
function(overlaptune_strategy name)
  cmake_parse_arguments(PARSE_ARGV 1 SIDE "" "" "CORE;MODEL;SIM;RUN")
  overlaptune_side_sources(core core ${SIDE_CORE})
  overlaptune_side_sources(model model ${SIDE_MODEL})
  overlaptune_side_sources(machine machine/sim ${SIDE_SIM})
  overlaptune_side_sources(run run ${SIDE_RUN})
  set_property(GLOBAL APPEND PROPERTY OVERLAPTUNE_STRATEGIES ${name})
endfunction()

function(overlaptune_side_sources room folder)
  if(TARGET overlaptune_${room})  # `run` is built only where CUDA is
    list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/${folder}/ OUTPUT_VARIABLE sources)
    target_sources(overlaptune_${room} PRIVATE ${sources})
  endif()
endfunction()

# overlaptune_side(NAME PATH): makes the header strategies/NAME.hpp, which includes PATH of every strategy, with its name
# for @strategy@.
function(overlaptune_side name path)
  get_property(strategies GLOBAL PROPERTY OVERLAPTUNE_STRATEGIES)
  set(content "#pragma once\n// This side of every strategy (strategies/CMakeLists.txt).\n\n")
  foreach(strategy IN LISTS strategies)
    string(CONFIGURE "#include \"${path}\"\n" line @ONLY)
    string(APPEND content "${line}")
  endforeach()
  file(CONFIGURE OUTPUT ${OVERLAPTUNE_GENERATED}/strategies/${name}.hpp CONTENT "${content}")
endfunction()
