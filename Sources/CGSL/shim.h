#pragma once
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_qrng.h>
#include <gsl/gsl_statistics.h>
#include <gsl/gsl_version.h>

// The generators' types are variables in GSL, which Swift takes for state that threads share.
static inline const gsl_qrng_type *cgsl_sobol(void) { return gsl_qrng_sobol; }
static inline const gsl_qrng_type *cgsl_halton(void) { return gsl_qrng_halton; }

// A variable, too.
static inline const char *cgsl_version(void) { return gsl_version; }
