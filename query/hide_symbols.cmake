# Leaves only the `ovt_` functions of an object file visible:
#   cmake -DOBJECT=a.o -DNM=nm -DOBJCOPY=objcopy -P this
# Unique symbols (STB_GNU_UNIQUE) can be hidden only after they are made weak. No other symbol is
# made weak, because a weak undefined symbol does not pull its definition out of a static libstdc++.
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
