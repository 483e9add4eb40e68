# How every target of the project is made. One CMake library per leaf folder:
#
#   azulejo_library(AzulejoIrOpset SOURCES a.cpp b.cpp LINKS AzulejoIrTarget)
#   azulejo_mlir_library(AzulejoPassesCpu SOURCES ... LINKS ...)   # sees MLIR
#
# Libraries are static, position-independent and hidden; the two shared
# libraries of the product link them and export only their C entry points.

get_filename_component(AZULEJO_ROOT "${CMAKE_CURRENT_LIST_DIR}" DIRECTORY)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

find_package(Threads REQUIRED)

# A missing ccache or lld slows the build down but must not stop it.
find_program(AZULEJO_CCACHE ccache)
if(AZULEJO_CCACHE)
  # Paths relative to the checkout, so that clones share objects; the
  # precompiled header needs its sloppiness.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${AZULEJO_ROOT}
      CCACHE_SLOPPINESS=pch_defines,time_macros ${AZULEJO_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
find_program(AZULEJO_LLD NAMES ld.lld-22 ld.lld PATHS /usr/lib/llvm-22/bin)
if(AZULEJO_LLD)
  get_filename_component(AZULEJO_LLD_DIR ${AZULEJO_LLD} REALPATH)
  get_filename_component(AZULEJO_LLD_DIR ${AZULEJO_LLD_DIR} DIRECTORY)
  add_link_options(-fuse-ld=lld -B${AZULEJO_LLD_DIR})
endif()

add_compile_options(-Wall -Wextra -Wno-unused-parameter)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports every std::variant that holds a string or a vector.
  add_compile_options(-Wno-maybe-uninitialized)
endif()
if(AZULEJO_WARNINGS_AS_ERRORS)
  add_compile_options(-Werror)
endif()
# What instrumented code takes longer, for the time limits of tests.
set(AZULEJO_SLOWDOWN 1)
if(AZULEJO_SANITIZE)
  set(AZULEJO_SLOWDOWN 4)
  add_compile_options(-fsanitize=${AZULEJO_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${AZULEJO_SANITIZE})
  if(AZULEJO_ENABLE_COMPILER)
    # LLVM turns these two off for itself, too: it casts by kinds, not by RTTI,
    # and generated functions carry no signature in front of them.
    add_compile_options(-fno-sanitize=vptr)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      add_compile_options(-fno-sanitize=function)
    endif()
    add_library(AzulejoSanitizerOptions OBJECT
      ${AZULEJO_ROOT}/cmake/SanitizerOptions.cpp)
    link_libraries("$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:$<TARGET_OBJECTS:AzulejoSanitizerOptions>>")
  endif()
endif()

# What LLVM's archives need besides. Linked in where the archives are there, so
# that a copy of our libraries asks nothing of another machine.
foreach(library zstd z)
  find_library(AZULEJO_STATIC_${library} lib${library}.a)
  if(AZULEJO_STATIC_${library})
    list(APPEND AZULEJO_COMPRESSION ${AZULEJO_STATIC_${library}})
  else()
    list(APPEND AZULEJO_COMPRESSION ${library})
  endif()
endforeach()

# LLVM Support alone (JSON, BLAKE3, zstd) is allowed in libazulejo; it is a few
# hundred kilobytes of hidden static code.
set(AZULEJO_LLVM_ROOT /usr/lib/llvm-22 CACHE PATH "Root of LLVM/MLIR 22.1")
find_package(LLVM 22.1 CONFIG REQUIRED PATHS ${AZULEJO_LLVM_ROOT}/lib/cmake/llvm NO_DEFAULT_PATH)
add_library(azulejo_llvm_support INTERFACE)
target_include_directories(azulejo_llvm_support SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_libraries(azulejo_llvm_support INTERFACE
  ${AZULEJO_LLVM_ROOT}/lib/libLLVMSupport.a ${AZULEJO_LLVM_ROOT}/lib/libLLVMDemangle.a
  ${AZULEJO_COMPRESSION} Threads::Threads ${CMAKE_DL_LIBS})

if(AZULEJO_ENABLE_COMPILER)
  # ECOSYSTEM: MLIR's CMake targets drag in libLLVM.so; the archives by path,
  # in one group, give a self-contained binary.
  find_package(MLIR 22.1 CONFIG REQUIRED PATHS ${AZULEJO_LLVM_ROOT}/lib/cmake/mlir NO_DEFAULT_PATH)
  file(GLOB AZULEJO_LLVM_ARCHIVES ${AZULEJO_LLVM_ROOT}/lib/libMLIR*.a ${AZULEJO_LLVM_ROOT}/lib/libLLVM*.a)
  list(FILTER AZULEJO_LLVM_ARCHIVES EXCLUDE REGEX
    "(MLIRMlirOptMain|LLVM(AArch64|AMDGPU|ARM|AVR|BPF|Hexagon|Lanai|LoongArch|MSP430|Mips|PowerPC|RISCV|Sparc|SPIRV|SystemZ|VE|WebAssembly|XCore|M68k|Xtensa|DirectX|ARC|CSKY|Exegesis).*|MLIR(CAPI|Test|Python).*)\\.a$")
  add_library(azulejo_mlir INTERFACE)
  target_include_directories(azulejo_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_link_libraries(azulejo_mlir INTERFACE
    -Wl,--start-group ${AZULEJO_LLVM_ARCHIVES} -Wl,--end-group ${AZULEJO_COMPRESSION} Threads::Threads ${CMAKE_DL_LIBS})
  target_link_options(azulejo_mlir INTERFACE -Wl,--gc-sections)
  if(NOT AZULEJO_SANITIZE)
    # Not with sanitizers: clang's are archives, and must replace malloc in the
    # shared libraries, too.
    target_link_options(azulejo_mlir INTERFACE -Wl,--exclude-libs,ALL)
  endif()
  # LLVM is built without exceptions; ABI-breaking checks are off in Debian's.
  target_compile_options(azulejo_mlir INTERFACE -fno-exceptions)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Clang would report libstdc++'s own uses in std::stable_sort.
    target_compile_options(azulejo_mlir INTERFACE -Werror=deprecated-declarations)
  else()
    target_compile_options(azulejo_mlir INTERFACE -Wno-deprecated-declarations)
  endif()
  list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
  include(TableGen)
  include(AddLLVM)
  include(AddMLIR)

  # One precompiled header serves every file that sees MLIR.
  file(WRITE ${CMAKE_BINARY_DIR}/pch/pch.cpp "// Only carries the shared precompiled header.\n")
  add_library(AzulejoMlirPch STATIC ${CMAKE_BINARY_DIR}/pch/pch.cpp)
  target_link_libraries(AzulejoMlirPch PRIVATE azulejo_mlir)
  target_include_directories(AzulejoMlirPch PRIVATE ${AZULEJO_ROOT} ${AZULEJO_ROOT}/include ${CMAKE_BINARY_DIR})
  target_precompile_headers(AzulejoMlirPch PRIVATE ${AZULEJO_ROOT}/cmake/MlirPch.h)
endif()

function(azulejo_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${AZULEJO_ROOT} ${AZULEJO_ROOT}/include)
  target_link_libraries(${name} PUBLIC ${ARG_LINKS})
endfunction()

function(azulejo_mlir_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${AZULEJO_ROOT} ${AZULEJO_ROOT}/include ${CMAKE_BINARY_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_LINKS} azulejo_mlir)
  target_precompile_headers(${name} REUSE_FROM AzulejoMlirPch)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# azulejo_tablegen(<target> <file.td> <out> <flag>...): generated files lie in
# the build tree under the source path, e.g. "ir/graph/GraphOps.h.inc". Call it
# once per output, then azulejo_tablegen_target(<target>).
macro(azulejo_tablegen td out)
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(${out} ${ARGN} -I${AZULEJO_ROOT} -I${MLIR_INCLUDE_DIRS})
endmacro()
macro(azulejo_tablegen_target name)
  add_public_tablegen_target(${name})
endmacro()
