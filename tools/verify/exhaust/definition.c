/*
 * The definition of the elementary functions (src/numerics/elementary) in C, operation by operation, for judge.c: the
 * same cuts, the same constants. The files there say why each step is as exact as it is; here only what is not there.
 */
#include "definition.h"

#include <float.h>
#include <string.h>

#if LDBL_MANT_DIG != 64
#error "long double must have 64 bits, as on x86-64"
#endif

#define LN2 WORD(0x2c5c85fdf473de6aull, 0xf278ece600fcbdacull)
#define PI_OVER_2 WORD(0x6487ed5110b4611aull, 0x62633145c06e0e69ull)
#define LOG2E_Q64 WORD(1, 0x71547652b82fe177ull)
#define TWO_OVER_SQRT_PI WORD(0x120dd750429b6ull, 0xd11ae3a914fed7feull)

#define NAN_WORD 0x7fc00000u
#define INFINITY_WORD 0x7f800000u
#define ONE_WORD 0x3f800000u
#define NEGATIVE 0x80000000u
#define BITS_OF_2_TO_MINUS_25 0x33000000u
#define BITS_OF_2_TO_MINUS_12 0x39800000u

typedef struct { u128 mantissa; int exponent; } scaled;
typedef struct { int negative; uint32_t magnitude; uint32_t mantissa; int exponent; } decoded;

static decoded decode(uint32_t x) {
    uint32_t magnitude = x & ~NEGATIVE, fraction = x & 0x7fffffu;
    int field = (int)(magnitude >> 23);
    int negative = x >> 31 && magnitude != 0;
    if (field == 0) return (decoded){negative, magnitude, fraction, -149};
    return (decoded){negative, magnitude, fraction | 0x800000u, field - 150};
}

static defined word(uint32_t bits) { return (defined){1, bits, 0, {0, 0}, 0}; }
static defined signedWord(int negative, uint32_t magnitude) {
    return word(negative ? magnitude | NEGATIVE : magnitude);
}
static defined itself(decoded x) { return x.magnitude == 0 ? word(0) : signedWord(x.negative, x.magnitude); }
static defined real256(int negative, u256 mantissa, int exponent) {
    return (defined){0, 0, negative, mantissa, exponent};
}
static defined real(int negative, u128 mantissa, int exponent) { return real256(negative, narrow(mantissa), exponent); }

static u256 toFixed256(u256 mantissa, int exponent) {
    int shift = exponent + 126;
    return shift >= 0 ? left256(mantissa, shift) : right256(mantissa, -shift);
}
static u128 toFixed(u128 mantissa, int exponent) { return toFixed256(narrow(mantissa), exponent).low; }

/* A signed number of Q126 below 1 in magnitude. */
typedef struct { int negative; u128 magnitude; } fraction;

/*
 * The quotients by k cut towards zero, the products down: of a negative number, the magnitude up. Below 2^63 units, r
 * times what a sum is more or less than 1 stays below 1 unit: each product is r, exactly.
 */
static u128 expm1Quotient(fraction r) {
    if (r.magnitude < (u128)1 << 63) return r.negative ? ONE - (r.magnitude >> 1) : ONE + (r.magnitude >> 1);
    u128 sum = ONE;
    if (r.negative) {
#pragma GCC unroll 32
        for (int k = 26; k > 1; k--) sum = ONE - divideSmall(product126Up(r.magnitude, sum), k);
    } else {
#pragma GCC unroll 32
        for (int k = 26; k > 1; k--) sum = ONE + divideSmall(product126(r.magnitude, sum), k);
    }
    return sum;
}

static scaled expFixed(int negative, u256 t) {
    const u256 half = left256(narrow(1), 189);
    u256 product = multiply256(t, LOG2E_Q64);
    u256 rounded = negative ? sub256(add256(product, half), narrow(1)) : add256(product, half);
    int n = (int)right256(rounded, 190).low;
    i128 rest = (i128)(t.low - (u128)n * LN2);
    fraction r = {(rest < 0) != negative && rest != 0, rest < 0 ? -(u128)rest : (u128)rest};
    u128 quotient = expm1Quotient(r);
    u128 mantissa = r.negative ? ONE - product126Up(r.magnitude, quotient) : ONE + product126(r.magnitude, quotient);
    return (scaled){mantissa, (negative ? -n : n) - 126};
}

typedef struct { u128 growing, decaying; int exponent; } powers;

static powers expBoth(u256 t) {
    scaled power = expFixed(0, t);
    u128 decaying = divide(left256(narrow(ONE), 126), power.mantissa);
    u128 shifted = right256(narrow(decaying), 2 * (power.exponent + 126)).low;
    return (powers){power.mantissa, shifted, power.exponent};
}

static scaled logQuotient(u128 p, u128 q) {
    int shift = 126 - bits128(p) + bits128(q);
    u128 s = divide(left256(narrow(p), shift), q);
    u128 z = right256(multiply(s, s), 2 * shift - 126).low;
    u128 sum = ONE / 49;
#pragma GCC unroll 32
    for (int k = 47; k > 0; k -= 2) sum = ONE / (u128)k + product126(z, sum);
    return (scaled){product126(s, sum), 1 - shift};
}

logarithm logPositive(u128 mantissa, int exponent) {
    int bits = bits128(mantissa);
    int above = less256(left256(narrow(1), 2 * bits - 1), multiply(mantissa, mantissa));
    int unitBits = above ? bits : bits - 1;
    u128 unit = (u128)1 << unitBits;
    int k = exponent + unitBits;
    u256 whole = multiply(LN2, (u128)(k < 0 ? -k : k));
    if (mantissa == unit) return (logarithm){k < 0, whole, -126};
    int below = mantissa < unit;
    scaled log = logQuotient(below ? unit - mantissa : mantissa - unit, mantissa + unit);
    if (k == 0) return (logarithm){below, narrow(log.mantissa), log.exponent};
    u256 magnitude = right256(narrow(log.mantissa), -log.exponent - 126);
    /* |k| ln 2 is larger than the magnitude. */
    int opposite = (k < 0) != below;
    return (logarithm){k < 0, opposite ? sub256(whole, magnitude) : add256(whole, magnitude), -126};
}

static scaled subtractFrom(u128 whole, scaled angle) {
    return (scaled){whole - toFixed(angle.mantissa, angle.exponent), -126};
}

static scaled atanSeries(u128 p, u128 q) {
    int shift = 126 - bits128(p) + bits128(q);
    u128 s = divide(left256(narrow(p), shift), q);
    u128 z = right256(multiply(s, s), 2 * shift - 126).low;
    if (z == 0) return (scaled){s, -shift};
    u128 sum = ONE / 101;
#pragma GCC unroll 64
    for (int k = 99; k > 0; k -= 2) sum = ONE / (u128)k - product126(z, sum);
    return (scaled){product126(s, sum), -shift};
}

static scaled atanUpTo1(u128 p, u128 q) {
    int far = less256(multiply(2, q), multiply(5, p));
    return far ? subtractFrom(PI_OVER_2 >> 1, atanSeries(q - p, q + p)) : atanSeries(p, q);
}

static scaled atanQuotient(u128 p, u128 q) {
    return p > q ? subtractFrom(PI_OVER_2, atanUpTo1(q, p)) : atanUpTo1(p, q);
}

/* 2/pi with 384 fraction bits, the lowest limb first. */
static const uint64_t TWO_OVER_PI[7] = {
    0x06492eea09d1921cull, 0xb7246e3a424dd2e0ull, 0xfe5163abdebbc561ull, 0xdb6295993c439041ull,
    0xfc2757d1f534ddc0ull, 0xa2f9836e4e441529ull, 0,
};

typedef struct { int quadrant, negative; u128 mantissa; int exponent; } angle;

static angle reduceAngle(uint32_t mantissa, int exponent) {
    int drop = 164 - exponent, limb = drop / 64, bit = drop % 64;
    uint64_t window[4];
    for (int k = 0; k < 4; k++) {
        uint64_t low = limb + k < 6 ? TWO_OVER_PI[limb + k] : 0, high = limb + k < 5 ? TWO_OVER_PI[limb + k + 1] : 0;
        window[k] = bit ? (low >> bit) | (high << (64 - bit)) : low;
    }
    u256 ofTwoOverPi = {WORD(window[1], window[0]), WORD(window[3] & ((1ull << 30) - 1), window[2])};
    u256 turns = multiply256(ofTwoOverPi, mantissa);
    const u256 quarter = left256(narrow(1), 220);
    u256 above = {turns.low, turns.high & (((u128)1 << 92) - 1)};
    int negative = less256(left256(narrow(1), 219), above);
    u256 rest = negative ? sub256(quarter, above) : above;
    int quadrant = ((int)(right256(turns, 220).low & 3) + negative) & 3;
    int dropped = bits256(rest) - 126;
    u128 cut = dropped >= 0 ? right256(rest, dropped).low : left256(rest, -dropped).low;
    return (angle){quadrant, negative, product126(cut, PI_OVER_2), dropped - 220};
}

static u128 square(angle a) { return right256(multiply(a.mantissa, a.mantissa), -2 * a.exponent - 126).low; }

static u256 sinTheta(angle a) {
    u128 z = square(a), sum = ONE;
#pragma GCC unroll 32
    for (int k = 31; k > 1; k -= 2) sum = ONE - divideSmall(product126(z, sum), k * (k - 1));
    return multiply(a.mantissa, sum);
}

static u128 cosTheta(angle a) {
    u128 z = square(a), sum = ONE;
#pragma GCC unroll 32
    for (int k = 32; k > 1; k -= 2) sum = ONE - divideSmall(product126(z, sum), k * (k - 1));
    return sum;
}

static defined sinShifted(int flipped, decoded x, int quarters) {
    angle a = reduceAngle(x.mantissa, x.exponent);
    int quadrant = a.quadrant + quarters;
    int negative = ((quadrant & 2) != 0) != flipped;
    if (quadrant & 1) return real(negative, cosTheta(a), -126);
    return real256(negative != a.negative, sinTheta(a), a.exponent - 126);
}

static defined ofLogarithm(int negative, logarithm log, int halved) {
    return real256(negative, log.mantissa, log.exponent - halved);
}

static defined expDefined(uint32_t bits) {
    decoded x = decode(bits);
    if (x.magnitude > INFINITY_WORD) return word(NAN_WORD);
    if (x.magnitude >= 0x43000000u) return word(x.negative ? 0 : INFINITY_WORD);
    scaled power = expFixed(x.negative, toFixed256(narrow(x.mantissa), x.exponent));
    return real(0, power.mantissa, power.exponent);
}

static defined expm1Defined(uint32_t bits) {
    decoded x = decode(bits);
    if (x.magnitude > INFINITY_WORD) return word(NAN_WORD);
    if (x.magnitude < BITS_OF_2_TO_MINUS_25) return itself(x);
    if (x.magnitude >= 0x42b20000u) return word(x.negative ? ONE_WORD | NEGATIVE : INFINITY_WORD);
    u256 t = toFixed256(narrow(x.mantissa), x.exponent);
    if (x.magnitude < 0x3e800000u) {
        u128 quotient = expm1Quotient((fraction){x.negative, t.low});
        return real256(x.negative, multiply(quotient, x.mantissa), x.exponent - 126);
    }
    scaled result = expFixed(x.negative, t);
    u256 power = toFixed256(narrow(result.mantissa), result.exponent);
    return real256(x.negative, x.negative ? sub256(narrow(ONE), power) : sub256(power, narrow(ONE)), -126);
}

static defined sigmoidDefined(uint32_t bits) {
    decoded x = decode(bits);
    if (x.magnitude > INFINITY_WORD) return word(NAN_WORD);
    if (x.magnitude >= 0x42d00000u) return word(x.negative ? 0 : ONE_WORD);
    scaled power = expFixed(1, toFixed256(narrow(x.mantissa), x.exponent));
    u128 denominator = ONE + right256(narrow(power.mantissa), -power.exponent - 126).low;
    if (x.negative) return real(0, divide(left256(narrow(power.mantissa), 126), denominator), power.exponent);
    return real(0, divide(left256(narrow(ONE), 126), denominator), -126);
}

static defined tanhDefined(uint32_t bits) {
    decoded x = decode(bits);
    if (x.magnitude > INFINITY_WORD) return word(NAN_WORD);
    if (x.magnitude < BITS_OF_2_TO_MINUS_12) return itself(x);
    if (x.magnitude >= 0x41800000u) return signedWord(x.negative, ONE_WORD);
    scaled power = expFixed(1, toFixed256(narrow(x.mantissa), x.exponent + 1));
    u128 u = right256(narrow(power.mantissa), -power.exponent - 126).low;
    return real(x.negative, divide(left256(narrow(ONE - u), 126), ONE + u), -126);
}

static defined sinhDefined(uint32_t bits) {
    decoded x = decode(bits);
    if (x.magnitude > INFINITY_WORD) return word(NAN_WORD);
    if (x.magnitude < BITS_OF_2_TO_MINUS_12) return itself(x);
    if (x.magnitude >= 0x42b40000u) return signedWord(x.negative, INFINITY_WORD);
    powers power = expBoth(toFixed256(narrow(x.mantissa), x.exponent));
    return real(x.negative, power.growing - power.decaying, power.exponent - 1);
}

static defined coshDefined(uint32_t bits) {
    decoded x = decode(bits);
    if (x.magnitude > INFINITY_WORD) return word(NAN_WORD);
    if (x.magnitude >= 0x42b40000u) return word(INFINITY_WORD);
    powers power = expBoth(toFixed256(narrow(x.mantissa), x.exponent));
    return real(0, power.growing + power.decaying, power.exponent - 1);
}

static defined logDefined(uint32_t bits) {
    decoded x = decode(bits);
    if (x.magnitude > INFINITY_WORD) return word(NAN_WORD);
    if (x.magnitude == 0) return word(INFINITY_WORD | NEGATIVE);
    if (x.negative) return word(NAN_WORD);
    if (x.magnitude == INFINITY_WORD) return word(INFINITY_WORD);
    logarithm log = logPositive(x.mantissa, x.exponent);
    return ofLogarithm(log.negative, log, 0);
}

static defined log1pDefined(uint32_t bits) {
    decoded x = decode(bits);
    if (x.magnitude > INFINITY_WORD) return word(NAN_WORD);
    if (x.magnitude < BITS_OF_2_TO_MINUS_25) return itself(x);
    if (x.negative && x.magnitude >= ONE_WORD)
        return word(x.magnitude == ONE_WORD ? INFINITY_WORD | NEGATIVE : NAN_WORD);
    if (x.magnitude == INFINITY_WORD) return word(INFINITY_WORD);
    logarithm log;
    if (x.exponent > 100) log = logPositive(x.mantissa, x.exponent);
    else if (x.exponent >= 0) log = logPositive(((u128)x.mantissa << x.exponent) + 1, 0);
    else {
        u128 one = (u128)1 << -x.exponent;
        log = logPositive(x.negative ? one - x.mantissa : one + x.mantissa, x.exponent);
    }
    return ofLogarithm(log.negative, log, 0);
}

static defined asinhDefined(uint32_t bits) {
    decoded x = decode(bits);
    if (x.magnitude > INFINITY_WORD) return word(NAN_WORD);
    if (x.magnitude < BITS_OF_2_TO_MINUS_12) return itself(x);
    if (x.magnitude == INFINITY_WORD) return signedWord(x.negative, INFINITY_WORD);
    int fractionBits = 100 - (x.exponent > -24 ? x.exponent : -24);
    u128 whole = (u128)x.mantissa << (x.exponent + fractionBits);
    u256 one = fractionBits >= 0 ? left256(narrow(1), 2 * fractionBits) : narrow(0);
    logarithm log = logPositive(whole + squareRoot(add256(multiply(whole, whole), one)), -fractionBits);
    return ofLogarithm(x.negative, log, 0);
}

static defined acoshDefined(uint32_t bits) {
    decoded x = decode(bits);
    if (x.magnitude > INFINITY_WORD || x.negative || x.magnitude < ONE_WORD) return word(NAN_WORD);
    if (x.magnitude == ONE_WORD) return word(0);
    if (x.magnitude == INFINITY_WORD) return word(INFINITY_WORD);
    int fractionBits = 100 - x.exponent;
    u128 whole = (u128)x.mantissa << 100;
    u256 one = fractionBits >= 0 ? left256(narrow(1), 2 * fractionBits) : narrow(0);
    logarithm log = logPositive(whole + squareRoot(sub256(multiply(whole, whole), one)), -fractionBits);
    return ofLogarithm(0, log, 0);
}

static defined atanhDefined(uint32_t bits) {
    decoded x = decode(bits);
    if (x.magnitude > ONE_WORD) return word(NAN_WORD);
    if (x.magnitude < BITS_OF_2_TO_MINUS_12) return itself(x);
    if (x.magnitude == ONE_WORD) return signedWord(x.negative, INFINITY_WORD);
    u128 one = (u128)1 << -x.exponent;
    int shift = 126 - bits128(one + x.mantissa) + bits128(one - x.mantissa);
    u128 quotient = divide(left256(narrow(one + x.mantissa), shift), one - x.mantissa);
    return ofLogarithm(x.negative, logPositive(quotient, -shift), 1);
}

static defined sinDefined(uint32_t bits) {
    decoded x = decode(bits);
    if (x.magnitude >= INFINITY_WORD) return word(NAN_WORD);
    if (x.magnitude < BITS_OF_2_TO_MINUS_12) return itself(x);
    return sinShifted(x.negative, x, 0);
}

static defined cosDefined(uint32_t bits) {
    decoded x = decode(bits);
    if (x.magnitude >= INFINITY_WORD) return word(NAN_WORD);
    if (x.magnitude < BITS_OF_2_TO_MINUS_12) return word(ONE_WORD);
    return sinShifted(0, x, 1);
}

static defined tanDefined(uint32_t bits) {
    decoded x = decode(bits);
    if (x.magnitude >= INFINITY_WORD) return word(NAN_WORD);
    if (x.magnitude < BITS_OF_2_TO_MINUS_12) return itself(x);
    angle a = reduceAngle(x.mantissa, x.exponent);
    u256 sine = sinTheta(a);
    u128 cosine = cosTheta(a);
    int below = x.negative != a.negative;
    if ((a.quadrant & 1) == 0) return real(below, divide(sine, cosine), a.exponent);
    return real(!below, divide(left256(narrow(cosine), 126), right256(sine, 126).low), -252 - a.exponent);
}

static defined asinDefined(uint32_t bits) {
    decoded x = decode(bits);
    if (x.magnitude > ONE_WORD) return word(NAN_WORD);
    if (x.magnitude < BITS_OF_2_TO_MINUS_12) return itself(x);
    u128 sine = toFixed(x.mantissa, x.exponent);
    u128 cosine = squareRoot(sub256(left256(narrow(ONE), 126), multiply(sine, sine)));
    scaled result = atanQuotient(sine, cosine);
    return real(x.negative, result.mantissa, result.exponent);
}

static defined acosDefined(uint32_t bits) {
    decoded x = decode(bits);
    if (x.magnitude > ONE_WORD) return word(NAN_WORD);
    u128 cosine = toFixed(x.mantissa, x.exponent);
    u128 sine = squareRoot(sub256(left256(narrow(ONE), 126), multiply(cosine, cosine)));
    scaled acute = atanQuotient(sine, cosine);
    scaled result = x.negative ? subtractFrom(2 * PI_OVER_2, acute) : acute;
    return real(0, result.mantissa, result.exponent);
}

static defined atanDefined(uint32_t bits) {
    decoded x = decode(bits);
    if (x.magnitude > INFINITY_WORD) return word(NAN_WORD);
    if (x.magnitude < BITS_OF_2_TO_MINUS_12) return itself(x);
    if (x.magnitude == INFINITY_WORD) return real(x.negative, PI_OVER_2, -126);
    int up = x.exponent > 0 ? x.exponent : 0, down = x.exponent < 0 ? -x.exponent : 0;
    scaled result = atanQuotient((u128)x.mantissa << up, (u128)1 << down);
    return real(x.negative, result.mantissa, result.exponent);
}

/* A term has up to 130 bits, its product with w up to 247. */
static u256 kummerSeries(u128 w) {
    u256 term = narrow((u128)1 << 112), sum = term;
    for (uint64_t k = 3; term.low != 0 || term.high != 0; k += 2) {
        u256 cut = right256(multiply256(term, w), 112);
        uint64_t high = (uint64_t)cut.high;
        u128 middle = WORD(high % k, cut.low >> 64);
        u128 low = WORD(middle % k, (uint64_t)cut.low);
        term = (u256){WORD(middle / k, (uint64_t)(low / k)), high / k};
        sum = add256(sum, term);
    }
    return sum;
}

static defined erfDefined(uint32_t bits) {
    decoded x = decode(bits);
    if (x.magnitude > INFINITY_WORD) return word(NAN_WORD);
    if (x.magnitude >= 0x40800000u) return signedWord(x.negative, ONE_WORD);
    u256 squared = toFixed256(narrow((u128)x.mantissa * x.mantissa), 2 * x.exponent);
    scaled power = expFixed(1, squared);
    u256 series = kummerSeries(right256(squared, 13).low);
    u128 c = product126(right256(series, -power.exponent - 126).low, power.mantissa);
    return real256(x.negative, multiply256(multiply(c, TWO_OVER_SQRT_PI), x.mantissa), x.exponent - 224);
}

defined powPositive(int negative, uint32_t x, uint32_t y) {
    decoded base = decode(x), power = decode(y);
    logarithm log = logPositive(base.mantissa, base.exponent);
    u256 product = multiply256(log.mantissa, power.mantissa);
    int exponent = log.exponent + power.exponent;
    int below = log.negative != power.negative;
    if (bits256(product) + exponent > 8) return below ? word(0) : signedWord(negative, INFINITY_WORD);
    scaled result = expFixed(below, toFixed256(product, exponent));
    return real(negative, result.mantissa, result.exponent);
}

definition definitionOf(const char *name) {
    static const struct { const char *name; definition function; } ALL[] = {
        {"exp", expDefined},     {"expm1", expm1Defined}, {"sigmoid", sigmoidDefined}, {"tanh", tanhDefined},
        {"sinh", sinhDefined},   {"cosh", coshDefined},   {"log", logDefined},         {"log1p", log1pDefined},
        {"asinh", asinhDefined}, {"acosh", acoshDefined}, {"atanh", atanhDefined},     {"sin", sinDefined},
        {"cos", cosDefined},     {"tan", tanDefined},     {"asin", asinDefined},       {"acos", acosDefined},
        {"atan", atanDefined},   {"erf", erfDefined},
    };
    for (size_t k = 0; k < sizeof ALL / sizeof *ALL; k++)
        if (strcmp(ALL[k].name, name) == 0) return ALL[k].function;
    return NULL;
}

/* src/numerics/round.ts, for a number that lies between two float32 that are not subnormal; its upper 64 bits. */
static uint32_t roundUpper(int negative, uint64_t upper, int top) {
    uint32_t kept = (uint32_t)(upper >> 40) + (uint32_t)(upper >> 39 & 1);
    return ((uint32_t)(top + 126) << 23) + kept + (negative ? NEGATIVE : 0);
}

/* src/numerics/round.ts. */
static uint32_t roundToFloat32(int negative, u256 mantissa, int exponent) {
    int bits = bits256(mantissa), top = exponent + bits - 1;
    if (bits == 0 || top < -150) return 0;
    if (top > 127) return negative ? INFINITY_WORD | NEGATIVE : INFINITY_WORD;
    int quantum = top - 23 > -149 ? top - 23 : -149, drop = quantum - exponent;
    uint32_t kept;
    if (drop <= 0) kept = (uint32_t)left256(mantissa, -drop).low;
    else {
        u256 cut = right256(mantissa, drop);
        u256 rest = sub256(mantissa, left256(cut, drop)), half = left256(narrow(1), drop - 1);
        kept = (uint32_t)cut.low;
        if (less256(half, rest) || (!less256(rest, half) && (kept & 1))) kept++;
    }
    uint32_t result = ((uint32_t)(quantum + 149) << 23) + kept;
    return negative && result != 0 ? result | NEGATIVE : result;
}

/* The upper 64 bits of the mantissa, the first of them 1. */
static uint64_t upperBits(const defined *value) {
    int drop = bits256(value->mantissa) - 64;
    return (uint64_t)(drop >= 0 ? right256(value->mantissa, drop) : left256(value->mantissa, -drop)).low;
}

uint32_t roundDefined(const defined *value) {
    if (value->isWord) return value->word;
    int top = value->exponent + bits256(value->mantissa) - 1;
    if (top >= -126 && top < 127) {
        uint64_t upper = upperBits(value), rest = upper & ((1ull << 40) - 1);
        /* Further than 2^-63 from the boundary: both ends round to the same. */
        if (rest < (1ull << 39) - 1 || rest > 1ull << 39) return roundUpper(value->negative, upper, top);
    }
    u256 halfWidth = right256(value->mantissa, 100);
    uint32_t low = roundToFloat32(value->negative, sub256(value->mantissa, halfWidth), value->exponent);
    uint32_t high = roundToFloat32(value->negative, add256(value->mantissa, halfWidth), value->exponent);
    return low == high || (low & 1) == 0 ? low : high;
}

long double valueOf(const defined *value) {
    int bits = bits256(value->mantissa);
    if (bits == 0) return 0;
    union { struct { uint64_t significand; uint16_t exponent; } parts; long double whole; } number = {0};
    number.parts.significand = upperBits(value);
    number.parts.exponent = (uint16_t)(16383 + value->exponent + bits - 1) | (value->negative ? 0x8000 : 0);
    return number.whole;
}
