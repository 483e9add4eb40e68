# Fails unless README.md shows PROGRAM: all after its banner, word for word.
#   cmake -DREADME=README.md -DPROGRAM=main.cpp -P CompareReadme.cmake
file(READ ${PROGRAM} program)
file(READ ${README} readme)
string(FIND "${program}" "#include" start)
if(start EQUAL -1)
  message(FATAL_ERROR "${PROGRAM} has no #include: is it the right file?")
endif()
string(SUBSTRING "${program}" ${start} -1 program)
string(FIND "${readme}" "```cpp\n${program}```" found)
if(found EQUAL -1)
  message(FATAL_ERROR "README.md does not show ${PROGRAM}: copy the program "
    "without its banner into a block of its own")
endif()
