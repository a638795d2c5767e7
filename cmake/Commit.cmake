# The commit that is built, as a C++ source that changes only when the commit does. Run by a target at each build:
#   cmake -DFOLDER=source -DOUTPUT=commit.cpp -P this
# A build without git, or from a copy of the sources, has an empty commit.
cmake_minimum_required(VERSION 3.22)
execute_process(COMMAND git -C ${FOLDER} rev-parse --short=7 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "")
else()
  execute_process(COMMAND git -C ${FOLDER} diff --quiet HEAD -- ERROR_QUIET RESULT_VARIABLE changed)
  if(changed)
    string(APPEND commit "-changed")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
  "#include \"cli/commit.hpp\"\n\nnamespace overlaptune::cli {\n\nconst char* commit() {\n  return \"@commit@\";\n}\n\n}  // namespace overlaptune::cli\n"
  @ONLY)
