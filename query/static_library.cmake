# The static library: everything linked into one object, in which only the `ovt_` functions stay
# visible. The linker resolves COMDAT groups here, because a group whose name is hidden must not be
# replaced by one of the program that links the library.

set(parts $<TARGET_FILE:overlaptune_query> $<TARGET_FILE:overlaptune_abi> $<TARGET_FILE:overlaptune_model>
          $<TARGET_FILE:overlaptune_db> $<TARGET_FILE:overlaptune_json> $<TARGET_FILE:overlaptune_core>
          $<TARGET_FILE:SQLiteCpp>)
if(TARGET overlaptune_text)
  list(APPEND parts $<TARGET_FILE:overlaptune_text>)
else()
  list(APPEND parts $<TARGET_FILE:fmt::fmt>)
endif()
if(TARGET sqlite3)
  list(APPEND parts $<TARGET_FILE:sqlite3>)  # the one bundled with SQLiteCpp
elseif(SQLite3_LIBRARY MATCHES "\\.a$")
  list(APPEND parts ${SQLite3_LIBRARY})
else()
  set(static_needs sqlite3)  # no static SQLite: a program that links the library must link SQLite too
endif()

set(whole ${CMAKE_CURRENT_BINARY_DIR}/overlaptune_query.o)
add_custom_command(
  OUTPUT ${whole}
  COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib $<$<BOOL:${OVERLAPTUNE_LTO}>:-flinker-output=nolto-rel>
          -Wl,--force-group-allocation -o ${whole} $<TARGET_OBJECTS:overlaptune_query_c>
          -Wl,--start-group ${parts} -Wl,--end-group
  COMMAND ${CMAKE_COMMAND} -DOBJECT=${whole} -DNM=${CMAKE_NM} -DOBJCOPY=${CMAKE_OBJCOPY}
          -P ${CMAKE_CURRENT_SOURCE_DIR}/hide_symbols.cmake
  DEPENDS hide_symbols.cmake overlaptune_query_c $<TARGET_OBJECTS:overlaptune_query_c> overlaptune_query
          overlaptune_abi overlaptune_model overlaptune_db overlaptune_json overlaptune_core
  COMMAND_EXPAND_LISTS VERBATIM)
add_library(overlaptune_query_static STATIC ${whole})
add_library(overlaptune::query_static ALIAS overlaptune_query_static)
set_source_files_properties(${whole} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
set_target_properties(overlaptune_query_static PROPERTIES OUTPUT_NAME overlaptune LINKER_LANGUAGE CXX)
set(cxx_runtime ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER cxx_runtime INCLUDE REGEX "c\\+\\+")  # named, for a linker that is driven by the C compiler
list(APPEND static_needs ${cxx_runtime} m ${CMAKE_DL_LIBS})
set_target_properties(overlaptune_query_static PROPERTIES STATIC_NEEDS "${static_needs}")
target_link_libraries(overlaptune_query_static PUBLIC overlaptune_query_interface
  INTERFACE ${static_needs} Threads::Threads)
