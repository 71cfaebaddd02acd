// What the parts of the probe share.
#pragma once

#include "CKernels.h"

// Seconds of a clock that only goes forward.
double probe_now(void);
// For qsort, of doubles.
int probe_ascending(const void *a, const void *b);
// The greatest rate of a body's multiply-adds in registers, on one core, in GFLOP/s.
double probe_peak(fs_body body);
// Prints what share of that the products of W1 and W2 reach with each body that the processor has.
void probe_products(void);
