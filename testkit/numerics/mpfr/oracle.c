/*
 * Correctly rounded results by MPFR, for tests: of float32 operands in float32 or a subset of it, or of float64 ones in
 * float64.
 *
 * Arguments: the result's precision, MPFR's emin and emax for it (float32: 24 -148 128), and 1 if words are float64.
 * stdin: records of three little-endian uint64: operation code (src/program/operations.ts), first operand, second
 * operand. stdout: one uint64 a record. -0 is written as 0 and every NaN as the type's one.
 *
 * MPFR rounds once, to the precision in an unbounded range, and reports the direction; mpfr_subnormalize then rounds to
 * fewer bits below the normal numbers without rounding twice. 2^-149 = 0.5 * 2^-148 is float32's smallest number: emin
 * = -148.
 */
#include <mpfr.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mpfr_t a, b, result, wide;
static long emin, emax;
static int is64;

/* 1/(1 + e^-x) to 320 bits, then once: it is no closer to a boundary than 2^-80 in float32, 2^-164 in float64. */
static int sigmoid(void) {
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
    mpfr_neg(wide, a, MPFR_RNDN);
    mpfr_exp(wide, wide, MPFR_RNDN);
    mpfr_add_ui(wide, wide, 1, MPFR_RNDN);
    mpfr_ui_div(wide, 1, wide, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    int inexact = mpfr_set(result, wide, MPFR_RNDN);
    return mpfr_check_range(result, inexact, MPFR_RNDN);
}

static int compute(uint64_t operation) {
    switch (operation) {
    case 0x10: return mpfr_add(result, a, b, MPFR_RNDN);
    case 0x11: return mpfr_sub(result, a, b, MPFR_RNDN);
    case 0x12: return mpfr_mul(result, a, b, MPFR_RNDN);
    case 0x13: return mpfr_div(result, a, b, MPFR_RNDN);
    case 0x18: return mpfr_pow(result, a, b, MPFR_RNDN);
    case 0x40: return mpfr_sqrt(result, a, MPFR_RNDN);
    case 0x50: return mpfr_exp(result, a, MPFR_RNDN);
    case 0x51: return mpfr_log(result, a, MPFR_RNDN);
    case 0x52: return mpfr_tanh(result, a, MPFR_RNDN);
    case 0x53: return sigmoid();
    case 0x54: return mpfr_erf(result, a, MPFR_RNDN);
    case 0x55: return mpfr_expm1(result, a, MPFR_RNDN);
    case 0x56: return mpfr_log1p(result, a, MPFR_RNDN);
    case 0x57: return mpfr_sin(result, a, MPFR_RNDN);
    case 0x58: return mpfr_cos(result, a, MPFR_RNDN);
    case 0x59: return mpfr_tan(result, a, MPFR_RNDN);
    case 0x5a: return mpfr_asin(result, a, MPFR_RNDN);
    case 0x5b: return mpfr_acos(result, a, MPFR_RNDN);
    case 0x5c: return mpfr_atan(result, a, MPFR_RNDN);
    case 0x5d: return mpfr_sinh(result, a, MPFR_RNDN);
    case 0x5e: return mpfr_cosh(result, a, MPFR_RNDN);
    case 0x5f: return mpfr_asinh(result, a, MPFR_RNDN);
    case 0x60: return mpfr_acosh(result, a, MPFR_RNDN);
    case 0x61: return mpfr_atanh(result, a, MPFR_RNDN);
    default: mpfr_set_nan(result); return 0;
    }
}

static void load(mpfr_t to, uint64_t bits) {
    if (is64) {
        double value;
        memcpy(&value, &bits, sizeof value);
        mpfr_set_d(to, value == 0 ? 0.0 : value, MPFR_RNDN);
    } else {
        uint32_t low = (uint32_t)bits;
        float value;
        memcpy(&value, &low, sizeof value);
        mpfr_set_flt(to, value == 0 ? 0.0f : value, MPFR_RNDN);
    }
}

static uint64_t store(int inexact) {
    inexact = mpfr_check_range(result, inexact, MPFR_RNDN);
    mpfr_subnormalize(result, inexact, MPFR_RNDN);
    if (mpfr_nan_p(result)) return is64 ? 0x7ff8000000000000u : 0x7fc00000u;
    if (mpfr_zero_p(result)) return 0;
    if (is64) {
        double value = mpfr_get_d(result, MPFR_RNDN);
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    float value = mpfr_get_flt(result, MPFR_RNDN);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    uint64_t record[3];
    emin = atol(arguments[2]);
    emax = atol(arguments[3]);
    is64 = atoi(arguments[4]);
    mpfr_inits2(is64 ? 53 : 24, a, b, (mpfr_ptr)0);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    mpfr_init2(result, atol(arguments[1]));
    mpfr_init2(wide, 320);
    while (fread(record, sizeof record, 1, stdin) == 1) {
        load(a, record[1]);
        load(b, record[2]);
        uint64_t bits = store(compute(record[0]));
        fwrite(&bits, sizeof bits, 1, stdout);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
