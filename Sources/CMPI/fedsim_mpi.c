// The four calls of MPI that FedSim makes, without MPI's own types: what is compiled with Open MPI
// and what is compiled with MPICH look alike, so one fedsim works with either. Calls come from one
// thread at a time. MPI ends the job where a call fails.
#define _POSIX_C_SOURCE 200809L
#pragma STDC FP_CONTRACT OFF
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { most_bytes = 1 << 30, looks = 2000, yields = 20000 };

static int tag = 0;

// Begins, and says which of how many processes this is, and which library it is.
int fedsim_mpi_begin(int *rank, int *count, char *library, int room) {
  // Over TCP, Open MPI would have the receiver ask for each piece of a large message. What it asks
  // waits behind the data that it is sending, so that both directions of a link take turns.
  // What a user sets is kept.
  setenv("OMPI_MCA_btl_tcp_flags", "send,inplace", 0);
  int level = 0;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS) return 1;
  if (level < MPI_THREAD_SERIALIZED) return 2;
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, count);
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  strncpy(library, text, (size_t)room - 1);
  library[room - 1] = 0;
  return 0;
}

static int pieces(long long bytes) { return (int)((bytes + most_bytes - 1) / most_bytes); }

static int part(long long bytes, int piece) {
  long long rest = bytes - (long long)piece * most_bytes;
  return rest < most_bytes ? (int)rest : most_bytes;
}

// Waits until all is done: at first without a pause, then so that others get the processor.
static void wait_for(int count, MPI_Request *requests) {
  int done = 0;
  for (int turn = 0;; turn++) {
    MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
    if (done) return;
    if (turn > yields) {
      struct timespec pause = {0, 20000};
      nanosleep(&pause, NULL);
      turn = yields;
    } else if (turn > looks) {
      sched_yield();
    }
  }
}

// Sends and receives some pieces of memory, and returns when all of it is done.
void fedsim_mpi_exchange(
    int sends, const int *to, void *const *sent, const long long *sent_bytes, int receives,
    const int *from, void *const *received, const long long *received_bytes) {
  int count = 0;
  for (int i = 0; i < receives; i++) count += pieces(received_bytes[i]);
  for (int i = 0; i < sends; i++) count += pieces(sent_bytes[i]);
  // Every rank is at the same exchange: a message of another one would not be taken for it.
  tag = (tag + 1) % 32000;
  if (count == 0) return;
  MPI_Request *requests = malloc((size_t)count * sizeof *requests);
  if (requests == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  int next = 0;
  for (int i = 0; i < receives; i++)
    for (int p = 0; p < pieces(received_bytes[i]); p++)
      MPI_Irecv(
          (char *)received[i] + (long long)p * most_bytes, part(received_bytes[i], p), MPI_BYTE,
          from[i], tag, MPI_COMM_WORLD, &requests[next++]);
  for (int i = 0; i < sends; i++)
    for (int p = 0; p < pieces(sent_bytes[i]); p++)
      MPI_Isend(
          (char *)sent[i] + (long long)p * most_bytes, part(sent_bytes[i], p), MPI_BYTE, to[i],
          tag, MPI_COMM_WORLD, &requests[next++]);
  wait_for(count, requests);
  free(requests);
}

// Ends all processes at once.
void fedsim_mpi_abort(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

// Ends.
void fedsim_mpi_end(void) { MPI_Finalize(); }
