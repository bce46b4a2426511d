/* The definition of the elementary functions (src/numerics/elementary) in C; see definition.c. */
#ifndef DEFINITION_H
#define DEFINITION_H

#include "wide.h"

/*
 * What a function of the definition gives for an input: either a word of float32 without further computation, or a
 * real number, (-1)^negative * mantissa * 2^exponent with mantissa > 0, that roundEnclosure makes a word.
 */
typedef struct {
    int isWord;
    uint32_t word;
    int negative;
    u256 mantissa;
    int exponent;
} defined;

typedef defined (*definition)(uint32_t x);

/* x^y (negated if `negative`) for positive finite x and a finite y that is not 0: src/numerics/elementary/pow.ts. */
defined powPositive(int negative, uint32_t x, uint32_t y);

/* |log x| and its sign, for x = mantissa * 2^exponent: src/numerics/elementary/logCore.ts. */
typedef struct { int negative; u256 mantissa; int exponent; } logarithm;
logarithm logPositive(u128 mantissa, int exponent);

/* The function of a name, or NULL. */
definition definitionOf(const char *name);

/* The word of float32: src/numerics/elementary/enclosure.ts. */
uint32_t roundDefined(const defined *value);

/* The number to 2^-63 relative, cut down in magnitude, if it is not a word. */
long double valueOf(const defined *value);

#endif
