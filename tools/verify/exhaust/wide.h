/* Unsigned integers of 256 bits, and fixed point with 126 fraction bits (Q126), for definition.c. */
#ifndef WIDE_H
#define WIDE_H

#include <gmp.h>
#include <stdint.h>

typedef unsigned __int128 u128;
typedef __int128 i128;
typedef struct { u128 low, high; } u256;

#define ONE ((u128)1 << 126)
#define WORD(high, low) (((u128)(high) << 64) | (low))

static inline int bits128(u128 a) {
    uint64_t high = (uint64_t)(a >> 64), low = (uint64_t)a;
    return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

static inline int bits256(u256 a) { return a.high ? 128 + bits128(a.high) : bits128(a.low); }

static inline u256 narrow(u128 a) { return (u256){a, 0}; }

static inline u256 add256(u256 a, u256 b) {
    u128 low = a.low + b.low;
    return (u256){low, a.high + b.high + (low < a.low)};
}

static inline u256 sub256(u256 a, u256 b) {
    return (u256){a.low - b.low, a.high - b.high - (a.low < b.low)};
}

static inline int less256(u256 a, u256 b) { return a.high < b.high || (a.high == b.high && a.low < b.low); }

/* a * 2^n modulo 2^256, n >= 0. */
static inline u256 left256(u256 a, int n) {
    if (n == 0) return a;
    if (n >= 256) return (u256){0, 0};
    if (n >= 128) return (u256){0, a.low << (n - 128)};
    return (u256){a.low << n, (a.high << n) | (a.low >> (128 - n))};
}

/* floor(a / 2^n), n >= 0. */
static inline u256 right256(u256 a, int n) {
    if (n == 0) return a;
    if (n >= 256) return (u256){0, 0};
    if (n >= 128) return (u256){a.high >> (n - 128), 0};
    return (u256){(a.low >> n) | (a.high << (128 - n)), a.high >> n};
}

static inline u256 multiply(u128 a, u128 b) {
    uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64), b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
    u128 low = (u128)a0 * b0, high = (u128)a1 * b1;
    u128 first = (u128)a0 * b1, second = (u128)a1 * b0;
    u128 middle = (low >> 64) + (uint64_t)first + (uint64_t)second;
    return (u256){(middle << 64) | (uint64_t)low, high + (first >> 64) + (second >> 64) + (middle >> 64)};
}

/* a * b modulo 2^256. */
static inline u256 multiply256(u256 a, u128 b) {
    u256 product = multiply(a.low, b);
    product.high += a.high * b;
    return product;
}

/* floor(a * b / 2^126), which must be below 2^128. */
static inline u128 product126(u128 a, u128 b) {
    u256 product = multiply(a, b);
    return (product.high << 2) | (product.low >> 126);
}

/* ceil(a * b / 2^126). */
static inline u128 product126Up(u128 a, u128 b) {
    u256 product = multiply(a, b);
    return ((product.high << 2) | (product.low >> 126)) + ((product.low << 2) != 0);
}

/* floor(a * b / 2^128). */
static inline u128 productHigh(u128 a, u128 b) { return multiply(a, b).high; }

/*
 * floor(a / k) for a < 2^126 and a constant 1 < k < 2^32. With 2^s <= k and m = floor(2^(128 + s) / k) + 1, which is
 * below 2^128 unless k = 2^s, a m / 2^(128 + s) is above a / k by less than a / 2^(128 + s) < 2^(-2 - s) < 1 / k.
 */
static inline __attribute__((always_inline)) u128 divideSmall(u128 a, uint32_t k) {
    const int s = 31 - __builtin_clz(k);
    if ((k & (k - 1)) == 0) return a >> s;
    /* 2^128 = whole * k + rest. */
    const u128 whole = ~(u128)0 / k, rest = ~(u128)0 % k + 1;
    const u128 m = (whole << s) + (rest << s) / k + 1;
    return productHigh(a, m) >> s;
}

/* floor(a / b), which must be below 2^128. */
static inline u128 divide(u256 a, u128 b) {
    mp_limb_t dividend[4] = {(uint64_t)a.low, a.low >> 64, (uint64_t)a.high, a.high >> 64};
    mp_limb_t divisor[2] = {(uint64_t)b, b >> 64}, quotient[4] = {0}, rest[2];
    int limbs = divisor[1] ? 2 : 1, top = dividend[3] ? 4 : dividend[2] ? 3 : 2;
    mpn_tdiv_qr(quotient, rest, 0, dividend, top, divisor, limbs);
    return WORD(quotient[1], quotient[0]);
}

/* The largest integer whose square is at most a. */
static inline u128 squareRoot(u256 a) {
    mp_limb_t value[4] = {(uint64_t)a.low, a.low >> 64, (uint64_t)a.high, a.high >> 64}, root[2] = {0, 0};
    int limbs = 4;
    while (limbs > 0 && value[limbs - 1] == 0) limbs--;
    if (limbs == 0) return 0;
    mpn_sqrtrem(root, 0, value, limbs);
    return WORD(root[1], root[0]);
}

#endif
