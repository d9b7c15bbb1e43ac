# Builds KenLM's query code as a static library. pip downloads the sources, the `kenlm` source distribution of the
# Python package index, and checks their hash. HIERO_KENLM_SOURCE, a tarball or an unpacked folder, replaces the
# download. A source distribution of hiero contains the tarball.
set(KENLM_VERSION 0.3.0)
set(KENLM_SHA256 c4628bb9fb63c8a6f9240035b8b037385cfc404cb72e933cf48878291edac1e8)
set(HIERO_KENLM_SOURCE "$ENV{HIERO_KENLM_SOURCE}" CACHE PATH "Local kenlm source: tarball or folder")

set(kenlm_included ${CMAKE_CURRENT_SOURCE_DIR}/cpp/external/kenlm-${KENLM_VERSION}.tar.gz)
if(HIERO_KENLM_SOURCE AND IS_DIRECTORY "${HIERO_KENLM_SOURCE}")
  set(kenlm_dir "${HIERO_KENLM_SOURCE}")
else()
  if(HIERO_KENLM_SOURCE)
    set(kenlm_tarball "${HIERO_KENLM_SOURCE}")
  elseif(EXISTS ${kenlm_included})
    set(kenlm_tarball ${kenlm_included})
  else()
    set(kenlm_download ${CMAKE_CURRENT_BINARY_DIR}/kenlm-download)
    if(DEFINED SKBUILD_STATE AND SKBUILD_STATE STREQUAL "sdist")
      set(kenlm_download ${CMAKE_CURRENT_SOURCE_DIR}/cpp/external)
    endif()
    set(kenlm_tarball ${kenlm_download}/kenlm-${KENLM_VERSION}.tar.gz)
    if(NOT EXISTS ${kenlm_tarball})
      file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/kenlm-requirement.txt
        "kenlm==${KENLM_VERSION} --hash=sha256:${KENLM_SHA256}\n")
      execute_process(
        COMMAND ${Python_EXECUTABLE} -m pip download --quiet --no-deps --no-binary :all:
          --require-hashes --no-build-isolation --dest ${kenlm_download}
          --requirement ${CMAKE_CURRENT_BINARY_DIR}/kenlm-requirement.txt
        RESULT_VARIABLE status)
      if(NOT status EQUAL 0)
        message(FATAL_ERROR "pip could not download kenlm==${KENLM_VERSION}; "
          "set HIERO_KENLM_SOURCE to a local copy of its source distribution")
      endif()
    endif()
  endif()
  file(SHA256 ${kenlm_tarball} kenlm_actual_sha256)
  if(NOT kenlm_actual_sha256 STREQUAL KENLM_SHA256)
    message(FATAL_ERROR "${kenlm_tarball}: SHA-256 ${kenlm_actual_sha256}, expected ${KENLM_SHA256}")
  endif()
  set(kenlm_dir ${CMAKE_CURRENT_BINARY_DIR}/kenlm-${KENLM_VERSION})
  if(NOT EXISTS ${kenlm_dir})
    file(ARCHIVE_EXTRACT INPUT ${kenlm_tarball} DESTINATION ${CMAKE_CURRENT_BINARY_DIR})
  endif()
endif()

if(NOT DEFINED SKBUILD_STATE OR NOT SKBUILD_STATE STREQUAL "sdist")
  file(GLOB kenlm_sources ${kenlm_dir}/lm/*.cc ${kenlm_dir}/util/*.cc
    ${kenlm_dir}/util/double-conversion/*.cc)
  list(FILTER kenlm_sources EXCLUDE REGEX "(_main|_test|/test)\\.cc$")
  add_library(kenlm STATIC ${kenlm_sources})
  # Where pip builds, all sources are compiled as one file, except one whose names clash with those of another.
  set_target_properties(kenlm PROPERTIES UNITY_BUILD_BATCH_SIZE 0)
  set_source_files_properties(${kenlm_dir}/util/float_to_string.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  # model.cc answers all queries; the other files read, build and write models.
  target_compile_options(kenlm PRIVATE $<$<CONFIG:Release>:-O1>)
  set_source_files_properties(${kenlm_dir}/lm/model.cc PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)
  target_include_directories(kenlm SYSTEM PUBLIC ${kenlm_dir})
  target_compile_definitions(kenlm PUBLIC KENLM_MAX_ORDER=6)
  # KenLM reads unaligned numbers, which the processors that it supports allow.
  target_compile_options(kenlm PRIVATE -w $<$<BOOL:${HIERO_SANITIZE}>:-fno-sanitize=alignment>)
  # Libraries for compressed language models. CMake's find modules for these link test programs, which takes longer.
  foreach(triple "zlib.h;z;HAVE_ZLIB" "bzlib.h;bz2;HAVE_BZLIB" "lzma.h;lzma;HAVE_XZLIB")
    list(GET triple 0 header)
    list(GET triple 1 library)
    list(GET triple 2 macro)
    find_path(${library}_headers ${header})
    find_library(${library}_library ${library})
    if(${library}_headers AND ${library}_library)
      target_compile_definitions(kenlm PRIVATE ${macro})
      target_include_directories(kenlm SYSTEM PRIVATE ${${library}_headers})
      target_link_libraries(kenlm PRIVATE ${${library}_library})
    endif()
  endforeach()
  find_library(librt rt)
  if(librt)
    target_link_libraries(kenlm PUBLIC ${librt})
  endif()
  target_link_libraries(kenlm PUBLIC Threads::Threads)
  if(SKBUILD)  # wheels contain KenLM's licences
    foreach(licence LICENSE COPYING COPYING.3 COPYING.LESSER.3 util/double-conversion/LICENSE)
      cmake_path(GET licence PARENT_PATH folder)
      install(FILES ${kenlm_dir}/${licence} DESTINATION ${SKBUILD_METADATA_DIR}/licenses/kenlm/${folder})
    endforeach()
  endif()
endif()
