# Builds hiero-lmplz, KenLM's language model estimation, as a program beside the extension module. This code of KenLM
# needs Boost; cpp/lmplz/boost implements the few parts that it uses.
file(GLOB lmplz_sources ${kenlm_dir}/lm/builder/*.cc ${kenlm_dir}/lm/common/*.cc ${kenlm_dir}/util/stream/*.cc)
# size_option.cc needs Boost's program options, which main.cc does not use.
list(FILTER lmplz_sources EXCLUDE REGEX "(_main|_test|/size_option)\\.cc$")
add_library(lmplz STATIC ${lmplz_sources})
set_target_properties(lmplz PROPERTIES UNITY_BUILD_BATCH_SIZE 0)
target_include_directories(lmplz PUBLIC cpp/lmplz)
target_link_libraries(lmplz PUBLIC kenlm)
# KenLM derives from std::unary_function, which libc++ hides without this definition.
target_compile_definitions(lmplz PRIVATE _LIBCPP_ENABLE_CXX17_REMOVED_UNARY_BINARY_FUNCTION)
# Records are unaligned as in the query code, and the empty context of unigrams is compared at a null pointer.
target_compile_options(lmplz PRIVATE -w $<$<CONFIG:Release>:-O1>
  $<$<BOOL:${HIERO_SANITIZE}>:-fno-sanitize=alignment$<COMMA>nonnull-attribute>)

add_executable(hiero-lmplz cpp/lmplz/main.cc)
target_link_libraries(hiero-lmplz PRIVATE lmplz)
target_compile_options(hiero-lmplz PRIVATE ${HIERO_WARNINGS})
install(TARGETS hiero-lmplz RUNTIME DESTINATION hiero/bin)
