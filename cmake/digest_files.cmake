# Writes a C++ file with a function that returns a hash of files, 64 bits of SHA-256:
#   cmake -DOUTPUT=a.cpp -DFILES=a;b -DHEADER=x.hpp -DNAMESPACE=n -DFUNCTION=f -P this

set(all "")
foreach(file IN LISTS FILES)
  file(SHA256 ${file} digest)
  string(APPEND all "${digest}\n")
endforeach()
string(SHA256 digest "${all}")
string(SUBSTRING ${digest} 0 16 digest)
file(WRITE ${OUTPUT} "// Generated.\n\n#include \"${HEADER}\"\n\n"
  "namespace ${NAMESPACE} {\n\nstd::uint64_t ${FUNCTION}() {\n  return 0x${digest}ULL;\n}\n\n}  // namespace ${NAMESPACE}\n")
