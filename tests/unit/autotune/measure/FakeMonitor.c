/* FakeMonitor.c - a management library that knows one device
 *
 * The build makes a second form of it without the newer function name.
 *
 * Part of azulejo, under Apache-2.0 WITH LLVM-exception.
 */
#include <stdlib.h>
#include <string.h>

static int started = 0, device = 0;

int nvmlInit_v2(void) {
  started = 1;
  return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **handle) {
  if (!started)
    return 1;
  if (strcmp(id, "0000:01:00.0") != 0)
    return 6;
  *handle = &device;
  return 0;
}

static int reasons(void *handle, unsigned long long *bits) {
  const char *text = getenv("FAKE_MONITOR");
  *bits = text ? strtoull(text, 0, 0) : 0x4;
  return handle == &device ? 0 : 2;
}

#ifdef FAKE_MONITOR_OLD
int nvmlDeviceGetCurrentClocksThrottleReasons(void *handle,
                                              unsigned long long *bits) {
  return reasons(handle, bits);
}
#else
int nvmlDeviceGetCurrentClocksEventReasons(void *handle,
                                           unsigned long long *bits) {
  return reasons(handle, bits);
}
#endif
