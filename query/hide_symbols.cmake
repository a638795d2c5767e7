# Leaves only the `ovt_` functions of an object file visible:
#   cmake -DOBJECT=a.o -DNM=nm -DOBJCOPY=objcopy -P this
# Symbols that are unique in a process (GNU) can only be hidden once they are weak. Those alone are
# made so: an undefined symbol that is weak takes nothing out of a static libstdc++.
function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${NM} --defined-only --format=posix ${OBJECT})
string(REGEX MATCHALL "[^\n ]+ u " unique "${output}")
string(REPLACE " u " "\n" unique "${unique}")
string(REPLACE ";" "" unique "${unique}")
file(WRITE ${OBJECT}.unique "${unique}")
run(${OBJCOPY} --weaken-symbols=${OBJECT}.unique ${OBJECT})
run(${OBJCOPY} --wildcard "--keep-global-symbol=ovt_*" ${OBJECT})
