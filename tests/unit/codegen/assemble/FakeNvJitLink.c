/*===- FakeNvJitLink.c - a library with nvJitLink's functions ------*- C -*-===*\
|*
|* What it does is in its input: the text is the cubin, and some texts make it
|* fail in the ways of the real one. FAKE_LACKS_COMPLETE and FAKE_HAS_NO_VERSION
|* make libraries that are broken.
|*
|* Part of azulejo, under Apache-2.0 WITH LLVM-exception.
\*===----------------------------------------------------------------------===*/
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct Link {
  char input[4096];
  const char *error;
};

int nvJitLinkCreate(struct Link **link, uint32_t count, const char **flags) {
  *link = calloc(1, sizeof **link);
  if (count != 3 || strcmp(flags[1], "-O3") || strcmp(flags[2], "-Xptxas=-v"))
    return 1;
  if (strcmp(flags[0], "-arch=sm_999") == 0) {
    (*link)->error = "unrecognized architecture (compute_999)";
    return 16;
  }
  return 0;
}

int nvJitLinkDestroy(struct Link **link) {
  free(*link);
  *link = 0;
  return 0;
}

int nvJitLinkAddData(struct Link *link, int type, const void *data, size_t size,
                     const char *name) {
  if (type != 2 || !name || size == 0 || size > sizeof link->input ||
      ((const char *)data)[size - 1] != 0)
    return 12;
  memcpy(link->input, data, size);
  return 0;
}

#ifndef FAKE_LACKS_COMPLETE
int nvJitLinkComplete(struct Link *link) {
  if (strcmp(link->input, "wrong") == 0)
    link->error = "ptxas application ptx input, line 3; error   : no";
  if (strcmp(link->input, "new") == 0)
    link->error = "line 5; fatal   : Unsupported .version 9.9";
  if (strcmp(link->input, "mute") == 0)
    return 6;
  return link->error ? 4 : 0;
}
#endif

int nvJitLinkGetLinkedCubinSize(struct Link *link, size_t *size) {
  *size = strlen(link->input);
  return 0;
}
int nvJitLinkGetLinkedCubin(struct Link *link, void *cubin) {
  memcpy(cubin, link->input, strlen(link->input));
  return 0;
}

static const char *errorOf(struct Link *link) {
  return link->error ? link->error : "";
}
int nvJitLinkGetErrorLogSize(struct Link *link, size_t *size) {
  *size = strlen(errorOf(link));
  return 0;
}
int nvJitLinkGetErrorLog(struct Link *link, char *log) {
  strcpy(log, errorOf(link));
  return 0;
}

static const char *infoOf(struct Link *link) {
  return strcmp(link->input, "no log") == 0
             ? ""
             : "ptxas         .     0 bytes stack frame, 0 bytes spill stores, "
               "0 bytes spill loads\n"
               "ptxas info    : Used 9 registers, used 0 barriers\n";
}
int nvJitLinkGetInfoLogSize(struct Link *link, size_t *size) {
  *size = strlen(infoOf(link)) + 1;
  return 0;
}
int nvJitLinkGetInfoLog(struct Link *link, char *log) {
  strcpy(log, infoOf(link));
  return 0;
}

int nvJitLinkVersion(unsigned *major, unsigned *minor) {
  *major = 13;
  *minor = 7;
#ifdef FAKE_HAS_NO_VERSION
  return 6;
#else
  return 0;
#endif
}
