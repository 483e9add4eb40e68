# Run at build time: digests the sources and writes BuildId.cpp when the digest
# changed.  cmake -DSOURCE=... -DOUT=... -DVERSION=... -DLLVM=... -P BuildId.cmake
set(files)
foreach(folder include frontend ir passes codegen autotune runtime)
  file(GLOB_RECURSE found ${SOURCE}/${folder}/*.h ${SOURCE}/${folder}/*.cpp
       ${SOURCE}/${folder}/*.td ${SOURCE}/${folder}/*.def)
  list(APPEND files ${found})
endforeach()
list(SORT files)
set(text "llvm ${LLVM}\n")
foreach(file ${files})
  file(SHA256 ${file} digest)
  file(RELATIVE_PATH name ${SOURCE} ${file})
  string(APPEND text "${name} ${digest}\n")
endforeach()
string(SHA256 digest "${text}")
string(SUBSTRING ${digest} 0 16 digest)
set(code "#include \"frontend/api/BuildId.h\"
namespace azulejo::api {
const char *buildId() { return \"${VERSION}-${digest}\"; }
const char *version() { return \"${VERSION}\"; }
} // namespace azulejo::api
")
set(old "")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT old STREQUAL code)
  file(WRITE ${OUT} "${code}")
endif()
