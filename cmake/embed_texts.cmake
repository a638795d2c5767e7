# Writes a C++ file with the names and texts of files, as a function that returns a list of them. A name is that
# of the file without its extension; with BASE, its path from that folder:
#   cmake -DOUTPUT=a.cpp -DFILES=a;b -DHEADER=x.hpp -DNAMESPACE=n -DTYPE=EmbeddedX -DFUNCTION=f [-DBASE=/a] -P this

set(code "// Generated from ${FILES}.\n\n#include \"${HEADER}\"\n\n")
string(APPEND code "namespace ${NAMESPACE} {\n\n")
string(APPEND code "const std::vector<${TYPE}>& ${FUNCTION}() {\n")
string(APPEND code "  static const std::vector<${TYPE}> embedded{\n")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  if(DEFINED BASE)
    file(RELATIVE_PATH name ${BASE} ${file})
  endif()
  file(READ ${file} text)
  string(APPEND code "      {\"${name}\", R\"embedded(${text})embedded\"},\n")
endforeach()
string(APPEND code "  };\n  return embedded;\n}\n\n}  // namespace ${NAMESPACE}\n")
file(WRITE ${OUTPUT} "${code}")
