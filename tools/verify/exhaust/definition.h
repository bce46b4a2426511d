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

/* The function of a name, or NULL. */
definition definitionOf(const char *name);

/* The word of float32: src/numerics/elementary/enclosure.ts. */
uint32_t roundDefined(const defined *value);

/* The number to 2^-63 relative, cut down in magnitude, if it is not a word. */
long double valueOf(const defined *value);

#endif
