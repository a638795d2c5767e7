# Writes a C++ file with the text of each device source: cmake -DOUTPUT=... -DSOURCES=a;b -P this.

set(code "// Generated from kernels/device/*.cu.\n\n#include \"kernels/registry.hpp\"\n\n")
string(APPEND code "namespace overlaptune::kernels {\n\n")
string(APPEND code "const std::vector<EmbeddedSource>& embedded_sources() {\n")
string(APPEND code "  static const std::vector<EmbeddedSource> sources{\n")
foreach(file IN LISTS SOURCES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND code "      {\"${name}\", R\"device(${text})device\"},\n")
endforeach()
string(APPEND code "  };\n  return sources;\n}\n\n}  // namespace overlaptune::kernels\n")
file(WRITE ${OUTPUT} "${code}")
