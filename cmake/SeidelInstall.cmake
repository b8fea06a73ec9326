# cmake --install: headers, library, program, and files for find_package(seidel) and pkg-config. The result may be moved.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/seidel)

if(NOT SEIDEL_MPI)
  set(without_mpi REGEX "/mpi/" EXCLUDE)
endif()
foreach(folder formats kernels solvers)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/seidel
    FILES_MATCHING PATTERN "*.hpp"
    ${without_mpi}
    # Internal headers of the reader: they need fast_float, which a user of the library need not have.
    REGEX "matrix_market/(chunks|fault|header|line|number|output_file|passes|rows|source)[.]hpp$" EXCLUDE)
endforeach()
install(FILES ${generated}/seidel/config.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/seidel)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(TARGETS seidel EXPORT seidel)
if(TARGET seidel_program)
  install(TARGETS seidel_program)
endif()

install(EXPORT seidel NAMESPACE seidel:: FILE seidel-targets.cmake DESTINATION ${package_dir})
if(SEIDEL_MPI)
  install(TARGETS seidel_mpi EXPORT seidel_mpi)
  install(EXPORT seidel_mpi NAMESPACE seidel:: FILE seidel-mpi-targets.cmake DESTINATION ${package_dir})
endif()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/seidel-config.cmake.in ${generated}/seidel-config.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${generated}/seidel-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${generated}/seidel-config.cmake ${generated}/seidel-config-version.cmake DESTINATION ${package_dir})

# pkg-config: folders are relative to that of the .pc file.
file(RELATIVE_PATH up "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
set(SEIDEL_PC_LIBS "-lseidel ${OpenMP_CXX_FLAGS}")
set(SEIDEL_PC_REQUIRES "")
get_target_property(kind seidel TYPE)
if(kind STREQUAL "STATIC_LIBRARY")
  set(SEIDEL_PC_REQUIRES zlib)
  if(SEIDEL_BUILT_WITH_CUDA)
    get_filename_component(cudart ${CUDA_cudart_static_LIBRARY} DIRECTORY)
    string(APPEND SEIDEL_PC_LIBS " -L${cudart} -lcudart_static -ldl -lrt -lpthread")
  endif()
endif()
string(REGEX REPLACE "/$" "" SEIDEL_PC_UP "${up}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/seidel.pc.in ${generated}/seidel.pc @ONLY)
install(FILES ${generated}/seidel.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
