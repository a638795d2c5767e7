# Writes a stand-in for NCCL 2.27.7: a function for each line of SYMBOLS, which are the functions of that
# release's nccl.h, and the version.
#   cmake -DSYMBOLS=nccl_2_27.txt -DOUTPUT=old_nccl.cpp -P this
file(STRINGS ${SYMBOLS} symbols)
set(code "extern \"C\" {\nint ncclGetVersion(int* version) {\n  *version = 22707;\n  return 0;\n}\n")
foreach(symbol IN LISTS symbols)
  string(APPEND code "int ${symbol}() { return 3; }\n")  # ncclInternalError
endforeach()
file(WRITE ${OUTPUT} "${code}}\n")
