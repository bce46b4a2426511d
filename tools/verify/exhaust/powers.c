/*
 * Looks for powers x^y of float32 that are closest to a midpoint of two float32 without being one, for powers.ts.
 *
 * Arguments: "near" or "few", a stride, how many parts there are, and the number of the part to search.
 *
 * near: results next to 1. For each x > 0 but 1 and each of the BOUNDARIES midpoints b next to 1 on either side, the y
 * closest to log b / log x. Nowhere else are powers as close to midpoints: for each x and b there is a y for which
 * x^y is off from b by at most 2^-25 |log b|.
 * few: y = n / 2^k with few bits, of both signs, and all significands of x with as many exponents as matter.
 *
 * stdout: a line of JSON: how many pairs were tried; the closest one that is no midpoint; how many midpoints there are;
 * how many pairs within 2^-100 are none (the definition would take them for midpoints).
 */
#define _GNU_SOURCE
#include "definition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOUNDARIES 8
#define TIE 0x1p-100L

typedef long double wide;

static struct { uint64_t tried, midpoints, taken; wide closest; uint32_t x, y; } found = {0, 0, 0, 1, 0, 0};

static uint32_t bitsOf(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float floatOf(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static wide wideOf(u256 value, int exponent) {
    wide high = ldexpl((wide)(uint64_t)(value.high >> 64), 64) + (uint64_t)value.high;
    wide low = ldexpl((wide)(uint64_t)(value.low >> 64), 64) + (uint64_t)value.low;
    return ldexpl(ldexpl(high, 128) + low, exponent);
}

static u256 scaledTo(u256 mantissa, int shift) {
    return shift >= 0 ? left256(mantissa, shift) : right256(mantissa, -shift);
}

/* m 2^e in lowest terms. */
static void reduce(mpz_t m, long *e) {
    mp_bitcnt_t zeros = mpz_scan1(m, 0);
    mpz_fdiv_q_2exp(m, m, zeros);
    *e += (long)zeros;
}

/* Whether x^y = b exactly, for x = mx 2^ex, y = (-1)^negative n / 2^k, b = mb 2^eb: x^n = b^(2^k), in lowest terms. */
static int isExact(uint32_t mx, long ex, int negative, unsigned n, unsigned k, uint64_t mb, long eb) {
    mpz_t x, b;
    mpz_init_set_ui(x, mx);
    mpz_init_set_ui(b, mb);
    reduce(x, &ex);
    reduce(b, &eb);
    mpz_pow_ui(x, x, n);
    mpz_pow_ui(b, b, 1ul << k);
    int isSame = negative ? mpz_cmp_ui(x, 1) == 0 && mpz_cmp_ui(b, 1) == 0 : mpz_cmp(x, b) == 0;
    ex *= negative ? -(long)n : (long)n;
    eb *= 1l << k;
    mpz_clears(x, b, NULL);
    return isSame && ex == eb;
}

static void consider(wide distance, uint32_t x, uint32_t y) {
    if (distance < TIE) found.taken++;
    if (distance >= found.closest) return;
    found.closest = distance;
    found.x = x;
    found.y = y;
}

static void searchNear(uint32_t first, uint64_t step) {
    logarithm logs[2 * BOUNDARIES];
    wide values[2 * BOUNDARIES];
    for (int k = 0; k < BOUNDARIES; k++) {
        /* Midpoints below 1 are odd multiples of 2^-25, those above of 2^-24. */
        logs[2 * k] = logPositive(((u128)1 << 25) - (2 * k + 1), -25);
        logs[2 * k + 1] = logPositive(((u128)1 << 24) + (2 * k + 1), -24);
    }
    for (int k = 0; k < 2 * BOUNDARIES; k++) values[k] = wideOf(logs[k].mantissa, logs[k].exponent);
    for (uint64_t x = first; x < 0x7f800000u; x += step) {
        if (x == 0x3f800000u) continue;
        wide log = fabsl(logl(floatOf((uint32_t)x)));
        for (int k = 0; k < 2 * BOUNDARIES; k++) {
            wide quotient = values[k] / log;
            float magnitude = (float)quotient;
            found.tried++;
            /* Off by 2^-44 |log b|: only what may be the closest is looked at. */
            if (fabsl(magnitude / quotient - 1) * values[k] > found.closest + 0x1p-80L) continue;
            int negative = (x < 0x3f800000u) != logs[k].negative;
            uint32_t y = bitsOf(magnitude);
            int field = (int)(x >> 23);
            logarithm exact = logPositive((x & 0x7fffffu) | (field ? 0x800000u : 0), (field ? field : 1) - 150);
            u256 product = multiply256(exact.mantissa, (y & 0x7fffffu) | 0x800000u);
            u256 power = scaledTo(product, exact.exponent + (int)(y >> 23) - 150 + 200);
            u256 boundary = scaledTo(logs[k].mantissa, logs[k].exponent + 200);
            u256 apart = less256(power, boundary) ? sub256(boundary, power) : sub256(power, boundary);
            consider(wideOf(apart, -200), (uint32_t)x, negative ? y | 0x80000000u : y);
        }
    }
}

static void searchPower(int negative, unsigned n, unsigned k, uint32_t first, uint32_t step) {
    uint32_t y = bitsOf(ldexpf((float)n, -(int)k)) | (negative ? 0x80000000u : 0);
    /* An exponent more by 2^k changes the result's exponent only. */
    for (uint32_t x = 0x3f800000u + first; x < 0x3f800000u + (0x800000u << k); x += step) {
        defined power = powPositive(0, x, y);
        if (power.isWord) continue;
        found.tried++;
        int bits = bits256(power.mantissa), drop = bits - 24;
        u256 cut = right256(power.mantissa, drop), half = left256(narrow(1), drop - 1);
        u256 rest = sub256(power.mantissa, left256(cut, drop));
        u256 apart = less256(rest, half) ? sub256(half, rest) : sub256(rest, half);
        wide distance = wideOf(apart, 0) / wideOf(power.mantissa, 0);
        if (distance < TIE && isExact((x & 0x7fffffu) | 0x800000u, (long)(x >> 23) - 150, negative, n, k,
                                      2 * (uint64_t)cut.low + 1, power.exponent + drop - 1))
            found.midpoints++;
        else
            consider(distance, x, y);
    }
}

/* The largest n that is tried, for each number k of bits after the point. */
static const unsigned MOST[] = {32, 15, 7, 3, 1};

int main(int count, char **arguments) {
    if (count != 5) return 2;
    uint32_t stride = (uint32_t)atol(arguments[2]), parts = (uint32_t)atol(arguments[3]);
    uint32_t part = (uint32_t)atol(arguments[4]);
    uint32_t first = part * stride, step = parts * stride;
    if (strcmp(arguments[1], "near") == 0) searchNear(first + 1, step);
    else
        for (unsigned k = 0; k < sizeof MOST / sizeof *MOST; k++)
            for (unsigned n = k == 0 ? 2 : 1; n <= MOST[k]; n += k == 0 ? 1 : 2)
                for (int negative = 0; negative < 2; negative++) searchPower(negative, n, k, first, step);
    printf("{\"tried\":%llu,\"closest\":%.17Lg,\"x\":%u,\"y\":%u,\"midpoints\":%llu,\"taken\":%llu}\n",
           (unsigned long long)found.tried, found.closest, found.x, found.y, (unsigned long long)found.midpoints,
           (unsigned long long)found.taken);
    return 0;
}
