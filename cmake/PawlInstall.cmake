# find_package(pawl COMPONENTS core store ...): one export set for each component, and a table of
# what each of them needs, both from the pawl_layer() calls.
include(CMakePackageConfigHelpers)

set(destination "${CMAKE_INSTALL_LIBDIR}/cmake/pawl")
get_property(pawl_components GLOBAL PROPERTY PAWL_COMPONENTS)
list(REMOVE_DUPLICATES pawl_components)

set(pawl_component_table "")
foreach(component IN LISTS pawl_components)
  install(EXPORT pawl-${component} NAMESPACE pawl:: FILE pawl-${component}.cmake
          DESTINATION "${destination}")
  get_property(externals GLOBAL PROPERTY PAWL_EXTERNALS_${component})
  list(REMOVE_DUPLICATES externals)
  # A component needs every other component that holds a layer which one of its layers sees.
  get_property(seen GLOBAL PROPERTY PAWL_SEEN_${component})
  set(needs "")
  foreach(other IN LISTS pawl_components)
    get_property(layers GLOBAL PROPERTY PAWL_LAYERS_${other})
    foreach(layer IN LISTS layers)
      if(layer IN_LIST seen AND NOT other STREQUAL component)
        list(APPEND needs ${other})
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES needs)
  if(component STREQUAL "core" AND needs)
    message(FATAL_ERROR "pawl: the core component stands alone, but a layer of it sees ${needs}")
  endif()
  string(APPEND pawl_component_table "set(pawl_${component}_externals \"${externals}\")\n"
                                     "set(pawl_${component}_needs \"${needs}\")\n")
endforeach()

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/pawlConfig.cmake.in" "${PROJECT_BINARY_DIR}/pawlConfig.cmake"
  INSTALL_DESTINATION "${destination}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/pawlConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/pawlConfig.cmake"
              "${PROJECT_BINARY_DIR}/pawlConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/PawlDependencies.cmake" DESTINATION "${destination}")

# The public headers, and no others: tests/install/run.sh compares.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/pawl"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
if(TARGET pawl)
  install(TARGETS pawl RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
# For Ubuntu, which lets only programs with a profile use user namespaces; see docs/sandbox.md.
install(FILES "${PROJECT_SOURCE_DIR}/data/apparmor/pawl"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/pawl/apparmor")
