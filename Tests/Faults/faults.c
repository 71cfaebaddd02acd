// Makes calls of the operating system fail, or ends the process at one of them.
//
// Loaded before the C library (LD_PRELOAD). Only calls on files below FAULT_FOLDER count. FAULT
// says what happens: ACTION:CALLS:N, where N counts the calls of that kind from 1.
//
//   ACTION  kill    the process ends before the call is made, as by kill -9
//           torn    half of a write is done, then the process ends (others: as kill)
//           enospc  the call fails: no space left on the device
//           eio     the call fails: input/output error
//           short   a write takes half of its bytes (others: as eio)
//           full    from here on nothing can be written: every write, and every call that makes
//                   something, fails with no space left
//           count   nothing happens
//   CALLS   any, or one of open read write fsync fdatasync rename close ftruncate mkdir unlink
//           rmdir
//
// With FAULT_LOG the number of calls is written there as the process ends by itself, and the call
// that was hit. (`read` counts only where it is named: reading changes nothing.)
#pragma STDC FP_CONTRACT OFF
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FDS = 4096 };
static unsigned char is_ours[FDS];
static char folder[PATH_MAX], action[16], calls[16];
static long wanted, seen;
static int is_full;
static char hit[PATH_MAX + 32];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void) {
  const char *place = getenv("FAULT_FOLDER"), *fault = getenv("FAULT");
  if (place == NULL || fault == NULL || realpath(place, folder) == NULL) {
    folder[0] = 0;
    return;
  }
  if (sscanf(fault, "%15[^:]:%15[^:]:%ld", action, calls, &wanted) < 2) folder[0] = 0;
  // Children are left alone.
  unsetenv("LD_PRELOAD");
}

__attribute__((destructor)) static void end(void) {
  const char *log = getenv("FAULT_LOG");
  if (log == NULL || folder[0] == 0) return;
  FILE *file = fopen(log, "w");
  if (file == NULL) return;
  fprintf(file, "%ld %s\n", seen, hit[0] ? hit : "-");
  fclose(file);
}

// Whether a path lies in the folder. Only its parent has to exist.
static int is_inside(const char *path) {
  char real[PATH_MAX], copy[PATH_MAX];
  if (folder[0] == 0 || path == NULL || strlen(path) >= PATH_MAX) return 0;
  if (realpath(path, real) == NULL) {
    strcpy(copy, path);
    char *slash = strrchr(copy, '/');
    if (slash == NULL) {
      strcpy(copy, ".");
    } else {
      *(slash == copy ? slash + 1 : slash) = 0;
    }
    if (realpath(copy, real) == NULL) return 0;
  }
  size_t length = strlen(folder);
  return strncmp(real, folder, length) == 0 && (real[length] == 0 || real[length] == '/');
}

enum outcome { go_on, fail, halve };

// Counts a call; what is to become of it. A process that is to end does not come back.
static enum outcome judge(const char *call, const char *what, int makes) {
  int is_any = strcmp(calls, "any") == 0 && strcmp(call, "read") != 0;
  int is_meant = is_any || strcmp(calls, call) == 0;
  pthread_mutex_lock(&mutex);
  if (is_meant) seen++;
  int is_it = is_meant && seen == wanted;
  if (is_it) snprintf(hit, sizeof hit, "%s %s", call, what);
  if (is_it && strcmp(action, "full") == 0) is_full = 1;
  int full = is_full;
  pthread_mutex_unlock(&mutex);
  if (full && makes) {
    errno = ENOSPC;
    return fail;
  }
  if (!is_it) return go_on;
  int is_write = strcmp(call, "write") == 0;
  if (strcmp(action, "kill") == 0 || (strcmp(action, "torn") == 0 && !is_write)) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
  if (strcmp(action, "torn") == 0 || (strcmp(action, "short") == 0 && is_write)) return halve;
  if (strcmp(action, "enospc") == 0) {
    errno = ENOSPC;
    return fail;
  }
  if (strcmp(action, "eio") == 0 || strcmp(action, "short") == 0) {
    errno = EIO;
    return fail;
  }
  return go_on;
}

#define REAL(result, name, ...)                                 \
  static result (*real)(__VA_ARGS__);                           \
  if (real == NULL) real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static int keep(int fd, const char *path) {
  if (fd >= 0 && fd < FDS) is_ours[fd] = is_inside(path);
  return fd;
}

static int open_either(const char *name, const char *path, int flags, mode_t mode) {
  int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);
  if (is_inside(path) && judge("open", path, flags & O_CREAT) == fail) return -1;
  return keep(real(path, flags, mode), path);
}

#define MODE(flags)                            \
  mode_t mode = 0;                             \
  if ((flags) & (O_CREAT | O_TMPFILE)) {       \
    va_list list;                              \
    va_start(list, flags);                     \
    mode = (mode_t)va_arg(list, int);          \
    va_end(list);                              \
  }

int open(const char *path, int flags, ...) {
  MODE(flags)
  return open_either("open", path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  MODE(flags)
  return open_either("open64", path, flags, mode);
}

ssize_t read(int fd, void *bytes, size_t count) {
  REAL(ssize_t, "read", int, void *, size_t);
  if (fd >= 0 && fd < FDS && is_ours[fd] && judge("read", "", 0) == fail) return -1;
  return real(fd, bytes, count);
}

ssize_t write(int fd, const void *bytes, size_t count) {
  REAL(ssize_t, "write", int, const void *, size_t);
  if (fd < 0 || fd >= FDS || !is_ours[fd]) return real(fd, bytes, count);
  switch (judge("write", "", 1)) {
    case fail: return -1;
    case halve: {
      size_t half = count > 1 ? count / 2 : count;
      ssize_t done = real(fd, bytes, half);
      if (strcmp(action, "torn") == 0) {
        kill(getpid(), SIGKILL);
        for (;;) pause();
      }
      return done;
    }
    default: return real(fd, bytes, count);
  }
}

int fsync(int fd) {
  REAL(int, "fsync", int);
  if (fd >= 0 && fd < FDS && is_ours[fd] && judge("fsync", "", 0) == fail) return -1;
  return real(fd);
}

int fdatasync(int fd) {
  REAL(int, "fdatasync", int);
  if (fd >= 0 && fd < FDS && is_ours[fd] && judge("fdatasync", "", 0) == fail) return -1;
  return real(fd);
}

int close(int fd) {
  REAL(int, "close", int);
  if (fd < 0 || fd >= FDS || !is_ours[fd]) return real(fd);
  enum outcome outcome = judge("close", "", 0);
  int number = errno;
  is_ours[fd] = 0;
  int result = real(fd);
  if (outcome != fail) return result;
  errno = number;
  return -1;
}

int ftruncate(int fd, off_t length) {
  REAL(int, "ftruncate", int, off_t);
  if (fd >= 0 && fd < FDS && is_ours[fd] && judge("ftruncate", "", 0) == fail) return -1;
  return real(fd, length);
}

int rename(const char *from, const char *to) {
  REAL(int, "rename", const char *, const char *);
  if (is_inside(to) && judge("rename", to, 0) == fail) return -1;
  return real(from, to);
}

int mkdir(const char *path, mode_t mode) {
  REAL(int, "mkdir", const char *, mode_t);
  if (is_inside(path) && judge("mkdir", path, 1) == fail) return -1;
  return real(path, mode);
}

int unlink(const char *path) {
  REAL(int, "unlink", const char *);
  if (is_inside(path) && judge("unlink", path, 0) == fail) return -1;
  return real(path);
}

int rmdir(const char *path) {
  REAL(int, "rmdir", const char *);
  if (is_inside(path) && judge("rmdir", path, 0) == fail) return -1;
  return real(path);
}
