/* Reference counts that the thread sanitizer sees.
 *
 * The thread that gives up the last reference of an object may change or free what others wrote
 * before they gave up theirs: Swift's runtime orders the two by atomics. The sanitizer does not
 * look into the runtime, and would report memory that one thread frees and another takes again.
 * `Scripts/sanitize thread` loads this library before the tests. */
#pragma STDC FP_CONTRACT OFF
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define VISIBLE __attribute__((visibility("default")))

extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

/* The runtime's own function of this name. */
#define NEXT(name) ((__typeof__(&name))next(#name))

static void *next(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) abort();
  return found;
}

/* What others wrote before they gave up their reference comes before what this thread does from
 * here on. */
static inline void order(void *object) {
  if ((intptr_t)object <= 0 || !__tsan_acquire) return;
  __tsan_release(object);
  __tsan_acquire(object);
}

VISIBLE void swift_release(void *object) {
  static void (*real)(void *);
  if (!real) real = NEXT(swift_release);
  order(object);
  real(object);
}

VISIBLE void swift_release_n(void *object, uint32_t count) {
  static void (*real)(void *, uint32_t);
  if (!real) real = NEXT(swift_release_n);
  order(object);
  real(object, count);
}

/* The lowest and the highest bits of such a reference say what it is; nothing counts one that is
 * negative. */
VISIBLE void swift_bridgeObjectRelease(void *object) {
  static void (*real)(void *);
  if (!real) real = NEXT(swift_bridgeObjectRelease);
  if ((intptr_t)object > 0) order((void *)((uintptr_t)object & 0x0ffffffffffffff8));
  real(object);
}

/* A thread with the only reference left may change what the others have read. */
static bool after_others(bool isOnlyOne, const void *object) {
  if (isOnlyOne && __tsan_acquire) __tsan_acquire((void *)object);
  return isOnlyOne;
}

VISIBLE bool swift_isUniquelyReferenced_nonNull_native(const void *object) {
  static bool (*real)(const void *);
  if (!real) real = NEXT(swift_isUniquelyReferenced_nonNull_native);
  return after_others(real(object), object);
}

VISIBLE bool swift_isUniquelyReferenced_native(const void *object) {
  static bool (*real)(const void *);
  if (!real) real = NEXT(swift_isUniquelyReferenced_native);
  return after_others(real(object), object);
}
