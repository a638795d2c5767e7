# A strategy is one folder, strategies/NAME, whose files belong to several rooms. strategies/CMakeLists.txt calls these.

set(OVERLAPTUNE_GENERATED ${PROJECT_BINARY_DIR}/generated)

# overlaptune_strategy(NAME CORE a.cpp ... MODEL b.cpp ... SIM c.cpp ... RUN d.cpp ... DEVICE e.cuh ...): gives the rooms
# their files of strategies/NAME.
function(overlaptune_strategy name)
  cmake_parse_arguments(PARSE_ARGV 1 SIDE "" "" "CORE;MODEL;SIM;RUN;DEVICE")
  set(sides CORE MODEL SIM RUN)
  set(rooms core model machine run)
  foreach(side room IN ZIP_LISTS sides rooms)
    list(TRANSFORM SIDE_${side} PREPEND ${PROJECT_SOURCE_DIR}/strategies/${name}/)
    if(TARGET overlaptune_${room})  # `run` is built only where CUDA is
      target_sources(overlaptune_${room} PRIVATE ${SIDE_${side}})
    endif()
  endforeach()
  list(TRANSFORM SIDE_DEVICE PREPEND ${PROJECT_SOURCE_DIR}/strategies/${name}/)
  set_property(TARGET overlaptune_compiler APPEND PROPERTY OVERLAPTUNE_DEVICE_HEADERS ${SIDE_DEVICE})
  set_property(GLOBAL APPEND PROPERTY OVERLAPTUNE_STRATEGIES ${name})
endfunction()

# overlaptune_side(NAME FILE): makes the header strategies/NAME.hpp, which includes FILE of every strategy.
function(overlaptune_side name file)
  get_property(strategies GLOBAL PROPERTY OVERLAPTUNE_STRATEGIES)
  set(content "#pragma once\n// This side of every strategy (strategies/CMakeLists.txt).\n\n")
  foreach(strategy IN LISTS strategies)
    string(APPEND content "#include \"strategies/${strategy}/${file}\"\n")
  endforeach()
  file(CONFIGURE OUTPUT ${OVERLAPTUNE_GENERATED}/strategies/${name}.hpp CONTENT "${content}")
endfunction()
