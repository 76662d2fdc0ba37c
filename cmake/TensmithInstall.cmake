# What `cmake --install` puts where, and the package that find_package(Tensmith) finds. Libraries join the export set
# `TensmithTargets` where they are declared (tensmith_library); inside a larger build they have the same names.

include(CMakePackageConfigHelpers)

# Everything that an embedding program needs, as one target.
add_library(tensmith_everything INTERFACE)
foreach(library tensmith_operator tensmith_measure tensmith_kernel tensmith_codegen_llvm tensmith_codegen tensmith_explore tensmith_costmodel tensmith_ops
    tensmith_schedule tensmith_runtime)
  if(TARGET ${library})
    target_link_libraries(tensmith_everything INTERFACE ${library})
  endif()
endforeach()
tensmith_export(tensmith_everything tensmith)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tensmith DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/Tensmith)
install(EXPORT TensmithTargets NAMESPACE Tensmith:: DESTINATION ${_package})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/TensmithConfig.cmake.in ${PROJECT_BINARY_DIR}/TensmithConfig.cmake
  INSTALL_DESTINATION ${_package})
# Until 1.0 a minor version may break interfaces.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TensmithConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TensmithConfig.cmake ${PROJECT_BINARY_DIR}/TensmithConfigVersion.cmake DESTINATION ${_package})
