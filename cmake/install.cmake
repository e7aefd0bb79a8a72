# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
include(CMakePackageConfigHelpers)

install(
  TARGETS pssa_scan
  EXPORT pssaTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(pssa_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pssa)
install(EXPORT pssaTargets NAMESPACE pssa:: DESTINATION ${pssa_cmake_dir})
configure_package_config_file(cmake/pssaConfig.cmake.in pssaConfig.cmake INSTALL_DESTINATION ${pssa_cmake_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(pssaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/pssaConfig.cmake ${PROJECT_BINARY_DIR}/pssaConfigVersion.cmake
        DESTINATION ${pssa_cmake_dir})

# The prefix as seen from the file, so that an installed pssa can be moved.
set(pssa_pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pssa_prefix ${CMAKE_INSTALL_PREFIX}/${pssa_pkgconfig_dir} ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "^(.*[^/])/?$" "\${pcfiledir}/\\1" pssa_prefix "${pssa_prefix}")
configure_file(cmake/pssa.pc.in pssa.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/pssa.pc DESTINATION ${pssa_pkgconfig_dir})
