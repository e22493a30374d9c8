include(GNUInstallDirs)
include(PawlDependencies)

# One directory of the map in the root's list, named so that the list reads as the architecture.
function(pawl_directory path)
  add_subdirectory("${PROJECT_SOURCE_DIR}/${path}" "${PROJECT_BINARY_DIR}/${path}")
endfunction()

# Groups a target's sources for PAWL_UNITY. A file of cmake/unity_alone.txt keeps its number: it
# does not change with whom the others are compiled.
function(pawl_unity target)
  if(NOT PAWL_UNITY)
    return()
  endif()
  set(list "${PROJECT_SOURCE_DIR}/cmake/unity_alone.txt")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
  file(STRINGS "${list}" alone REGEX "^[^#]")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  set(index 0)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    math(EXPR group "${index} / ${PAWL_UNITY_FILES}")
    math(EXPR index "${index} + 1")
    if(NOT path IN_LIST alone)
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${target}_${group})
    endif()
  endforeach()
endfunction()

# The common standard headers, compiled once for each set of options. Not part of the interface.
function(pawl_precompile target)
  set(headers pawl_precompiled)
  if(ARGN)
    set(headers pawl_precompiled_for_tests)
  endif()
  if(NOT TARGET ${headers})
    add_library(${headers} OBJECT "${PROJECT_SOURCE_DIR}/cmake/precompiled.cc")
    target_compile_features(${headers} PRIVATE cxx_std_20)
    target_compile_options(${headers} PRIVATE ${pawl_warnings} ${pawl_hardening} ${ARGN})
    target_precompile_headers(
      ${headers} PRIVATE <algorithm> <array> <cstdint> <functional> <map> <memory> <optional>
      <set> <span> <string> <string_view> <utility> <variant> <vector>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# What every target of Pawl has in common; further options come behind those of all. Not part of
# the interface of this file.
function(pawl_compile target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_options(${target} PRIVATE ${pawl_warnings} ${pawl_hardening} ${ARGN})
  if(PAWL_PRECOMPILE)
    pawl_precompile(${target} ${ARGN})
  endif()
  pawl_unity(${target})
endfunction()

# Links other layers (SEES) and external libraries (USES). Boost is used as headers; Asio's and
# JSON's bodies are compiled once, in our own source files.
function(pawl_link target scope)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SEES;USES")
  foreach(layer IN LISTS arg_SEES)
    target_link_libraries(${target} ${scope} pawl::${layer})
  endforeach()
  foreach(external IN LISTS arg_USES)
    pawl_find_external(${external})
    target_link_libraries(${target} ${scope} ${external})
    if(external STREQUAL "Boost::headers")
      target_compile_definitions(${target} ${scope} BOOST_ASIO_SEPARATE_COMPILATION)
    endif()
  endforeach()
endfunction()

# pawl_layer(<name> [SOURCES ...] [SEES <layers>] [USES <external targets>]
#            [PUBLIC_USES <external targets that the headers need>] [COMPONENT <component>])
#
# The static library pawl_<name> (alias pawl::<name>) of the current directory, or an interface
# library when there are no sources. COMPONENT (default core) is what find_package() asks for.
function(pawl_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "COMPONENT" "SOURCES;SEES;USES;PUBLIC_USES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "pawl_layer(${name}): unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_COMPONENT)
    set(arg_COMPONENT core)
  endif()
  set(target pawl_${name})
  if(arg_SOURCES)
    set(scope PUBLIC)
    add_library(${target} STATIC ${arg_SOURCES})
    pawl_compile(${target})
    pawl_link(${target} PRIVATE USES ${arg_USES})
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(pawl::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(
    ${target} ${scope} "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
                       "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>"
                       "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  pawl_link(${target} ${scope} SEES ${arg_SEES} USES ${arg_PUBLIC_USES})

  install(TARGETS ${target} EXPORT pawl-${arg_COMPONENT}
          ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  set_property(GLOBAL APPEND PROPERTY PAWL_COMPONENTS ${arg_COMPONENT})
  set_property(GLOBAL APPEND PROPERTY PAWL_EXTERNALS_${arg_COMPONENT} ${arg_USES}
                                      ${arg_PUBLIC_USES})
  set_property(GLOBAL APPEND PROPERTY PAWL_LAYERS_${arg_COMPONENT} ${name})
  set_property(GLOBAL APPEND PROPERTY PAWL_SEEN_${arg_COMPONENT} ${arg_SEES})
endfunction()

# pawl_headers(<layer> <external targets>): takes their headers only; what they are is loaded later.
function(pawl_headers name)
  foreach(external IN LISTS ARGN)
    pawl_find_external(${external})
    target_include_directories(
      pawl_${name} SYSTEM PRIVATE $<TARGET_PROPERTY:${external},INTERFACE_INCLUDE_DIRECTORIES>)
  endforeach()
endfunction()

# pawl_program(<target> SOURCES ... [SEES ...] [USES ...] [OPTIONS <of the compiler>]): an
# executable in <build>/bin.
function(pawl_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;SEES;USES;OPTIONS")
  add_executable(${target} ${arg_SOURCES})
  pawl_compile(${target} ${arg_OPTIONS})
  pawl_link(${target} PRIVATE SEES ${arg_SEES} USES ${arg_USES})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/include"
                                               "${PROJECT_SOURCE_DIR}/src")
  # -fPIC as in the libraries, not the -fPIE of programs: one precompiled header serves both.
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin"
                                             POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
endfunction()

# pawl_test_command(<name> COMMAND ... [TIMEOUT <seconds>] [LABELS ...] [ENVIRONMENT ...]): a ctest
# that always ends.
function(pawl_test_command name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "COMMAND;LABELS;ENVIRONMENT")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  math(EXPR seconds "${arg_TIMEOUT} * ${PAWL_TEST_TIMEOUT_SCALE}")
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set(environment "PAWL_SOURCE_DIR=${PROJECT_SOURCE_DIR}" "PAWL_BINARY_DIR=${PROJECT_BINARY_DIR}"
                  ${arg_ENVIRONMENT})
  # In parallel those that may take longest start first, until ctest knows what each one took.
  set_tests_properties(${name} PROPERTIES TIMEOUT ${seconds} COST ${seconds}
                                          LABELS "${arg_LABELS}" ENVIRONMENT "${environment}")
endfunction()

# pawl_tests(<layer> FILES a_test.cc ... [SEES ...] [USES ...] [TIMEOUT <seconds>])
#
# One doctest program pawl_test_<layer>, and one ctest <layer>.<a> for each file of it.
function(pawl_tests layer)
  if(NOT PAWL_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "FILES;SEES;USES;LABELS;ENVIRONMENT")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "pawl_tests(${layer}): unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(target pawl_test_${layer})
  pawl_find_external(doctest::doctest)
  if(NOT TARGET pawl_doctest_main)
    add_library(pawl_doctest_main OBJECT "${PROJECT_SOURCE_DIR}/tests/doctest_main.cc")
    target_link_libraries(pawl_doctest_main PUBLIC doctest::doctest)
  endif()
  pawl_program(${target} SOURCES ${arg_FILES} SEES ${arg_SEES} USES ${arg_USES}
               OPTIONS ${PAWL_TEST_OPTIONS})
  target_link_libraries(${target} PRIVATE pawl_doctest_main)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")  # "tests/contract/..."
  foreach(file IN LISTS arg_FILES)
    get_filename_component(stem "${file}" NAME_WE)
    string(REGEX REPLACE "_test$" "" stem "${stem}")
    pawl_test_command(${layer}.${stem} COMMAND ${target} "-sf=*/${file}" TIMEOUT ${arg_TIMEOUT}
                      LABELS ${layer} ${arg_LABELS} ENVIRONMENT ${arg_ENVIRONMENT})
    # A filter that matches nothing would otherwise pass.
    set_tests_properties(${layer}.${stem} PROPERTIES FAIL_REGULAR_EXPRESSION "test cases: +0 ")
  endforeach()
endfunction()
