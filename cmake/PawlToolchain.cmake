# How Pawl's own code is compiled. Nothing here reaches a project that links Pawl: warnings and
# hardening are PRIVATE to Pawl's targets; linker and cache are left alone unless Pawl is the top.

set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)  # A layer finds what it uses; its users link it too.

set(pawl_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
                  -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms of g++ 12 in std::string's own operators; clang and newer g++ still warn.
  list(APPEND pawl_warnings -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
                            -Wno-stringop-overread)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # std::stable_sort of libstdc++ 12 calls a function that it declares deprecated itself.
  list(APPEND pawl_warnings -Wno-deprecated-declarations)
endif()
set(pawl_hardening -D_GLIBCXX_ASSERTIONS -fstack-protector-strong -fstack-clash-protection
                   -fno-semantic-interposition -pthread
                   "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  # Fortified libc calls hide from the sanitizers what they would report better.
  list(APPEND pawl_hardening
       "$<$<CONFIG:Release,RelWithDebInfo>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
endif()

# The standard headers that nearly every file includes, compiled once. Files still include what they
# use: the clang preset builds without this and finds what is missing.
option(PAWL_PRECOMPILE "Precompile the common standard headers" ${PROJECT_IS_TOP_LEVEL})
if(PAWL_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND pawl_warnings -Wno-error=invalid-pch)  # Slower, not wrong.
endif()

# Eight neighbours a compilation: half of the time goes into the same templates of the standard
# library. The clang preset builds without this and finds what a file took from its neighbours.
option(PAWL_UNITY "Compile several files of a directory together" ${PROJECT_IS_TOP_LEVEL})
set(PAWL_UNITY_FILES 8 CACHE STRING "How many files are compiled together")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

if(PROJECT_IS_TOP_LEVEL)
  find_program(PAWL_CCACHE ccache)
  if(PAWL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Precompiled headers are cached only when ccache may trust their contents.
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
        "CCACHE_SLOPPINESS=pch_defines,time_macros" "${PAWL_CCACHE}")
  endif()
  include(CheckLinkerFlag)
  foreach(linker IN ITEMS lld gold)
    check_linker_flag(CXX "-fuse-ld=${linker}" PAWL_HAS_${linker})
    if(PAWL_HAS_${linker})
      add_link_options("-fuse-ld=${linker}")
      break()
    endif()
  endforeach()
  add_link_options("LINKER:-z,relro,-z,now" "LINKER:--as-needed")
endif()
