# Writes a C++ file with the text of each profile: cmake -DOUTPUT=... -DPROFILES=a;b -P this.

set(code "// Generated from machine/sim/profiles/*.json.\n\n#include \"machine/sim/profile.hpp\"\n\n")
string(APPEND code "namespace overlaptune::sim {\n\n")
string(APPEND code "const std::vector<EmbeddedProfile>& embedded_profiles() {\n")
string(APPEND code "  static const std::vector<EmbeddedProfile> profiles{\n")
foreach(file IN LISTS PROFILES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND code "      {\"${name}\", R\"profile(${text})profile\"},\n")
endforeach()
string(APPEND code "  };\n  return profiles;\n}\n\n}  // namespace overlaptune::sim\n")
file(WRITE ${OUTPUT} "${code}")
