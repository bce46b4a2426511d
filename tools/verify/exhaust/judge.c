/*
 * Judges every result of an elementary kernel, and measures its estimates, for main.ts: two builds at once.
 *
 * Arguments: function, stride, whether there is a second estimate (0 or 1), the two end factors of the certificate, the
 * magnitude from which the estimate is saturated (0: never), the fifo of each build, then numbers of chunks. A chunk is
 * the inputs whose upper eight bits are its number, one of each stride of them.
 *
 * A fifo holds, for each BLOCK inputs: the results (uint32), the estimates (double), the second ones if there are any.
 * stdout: for each chunk a line of JSON.
 *
 * The definition (definition.c) says what each result must be. An estimate is compared with the definition's number
 * before it is rounded; where the definition needs no computation to know its word (x itself, 0, 1), with the C
 * library's function of long double, whose errors are below 2^-61. On every 64th other input the two numbers are
 * compared with each other.
 */
#define _GNU_SOURCE
#include "definition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUILDS 2
#define CHUNK (1u << 24)
#define MAX_BLOCK (1u << 16)
#define COMPARED 64

typedef long double wide;

static wide sigmoidl(wide x) { return 1 / (1 + expl(-x)); }

static const struct { const char *name; wide (*function)(wide); } LIBRARY[] = {
    {"exp", expl},     {"expm1", expm1l}, {"sigmoid", sigmoidl}, {"tanh", tanhl}, {"sinh", sinhl},   {"cosh", coshl},
    {"log", logl},     {"log1p", log1pl}, {"asinh", asinhl},     {"acosh", acoshl}, {"atanh", atanhl}, {"sin", sinl},
    {"cos", cosl},     {"tan", tanl},     {"asin", asinl},       {"acos", acosl}, {"atan", atanl},   {"erf", erfl},
};

/* The estimate that says nothing: src/numerics/kernels/elementary/certified.ts. */
static const double UNKNOWN = 1 + 0x1p-24;

static double least, most;

static int isOpen(double estimate) {
    float low = (float)(estimate * least), high = (float)(estimate * most);
    return low != high && low == low;
}

typedef struct {
    wide error;
    uint32_t at;
    uint64_t doubts;
} figures;

static void measure(figures *of, double estimate, wide value, uint32_t x) {
    wide apart = fabsl(estimate - value), magnitude = fabsl(value);
    if (apart <= of->error * magnitude) return;
    wide error = apart / magnitude;
    /* A NaN is worse than any number. */
    if (error <= of->error || of->error != of->error) return;
    of->error = error;
    of->at = x;
}

/* One of each `stride` inputs: not always the first, whose last bits would be zeros. chunks.ts has the same. */
static uint32_t inputOf(uint32_t chunk, uint32_t k, uint32_t stride) {
    return (chunk << 24) + k * stride + ((k * 0x9e3779b1u) >> 8) % stride;
}

/*
 * Whether the estimate is bounded. Where the result is 0 or infinite, or beyond the saturation, it may be that of
 * another input; as long as the function's number lies between 2^-160 and 2^160 it is not.
 */
static int isMeasurable(float input, const defined *exact, double saturation) {
    if (saturation != 0 && fabsf(input) >= saturation) return 0;
    uint32_t magnitude = exact->word & 0x7fffffffu;
    int isEdge = exact->isWord && (magnitude == 0 || magnitude >= 0x7f800000u);
    return !(isEdge && (magnitude > 0x7f800000u || fabsf(input) >= 128));
}

static void readAll(void *to, size_t size, size_t count, FILE *from) {
    if (fread(to, size, count, from) == count) return;
    fprintf(stderr, "a kernel ended before its last result\n");
    exit(3);
}

int main(int count, char **arguments) {
    if (count < 10) return 2;
    const char *name = arguments[1];
    definition define = definitionOf(name);
    wide (*library)(wide) = NULL;
    for (size_t k = 0; k < sizeof LIBRARY / sizeof *LIBRARY; k++)
        if (strcmp(LIBRARY[k].name, name) == 0) library = LIBRARY[k].function;
    if (define == NULL || library == NULL) return 2;
    uint32_t stride = (uint32_t)strtoul(arguments[2], NULL, 10);
    int hasFar = arguments[3][0] == '1';
    least = strtod(arguments[4], NULL);
    most = strtod(arguments[5], NULL);
    double saturation = strtod(arguments[6], NULL);
    uint32_t perChunk = CHUNK / stride, perBlock = perChunk < MAX_BLOCK ? perChunk : MAX_BLOCK;

    FILE *from[BUILDS];
    static uint32_t results[BUILDS][MAX_BLOCK];
    static double near[BUILDS][MAX_BLOCK], far[BUILDS][MAX_BLOCK];
    for (int build = 0; build < BUILDS; build++)
        if ((from[build] = fopen(arguments[7 + build], "rb")) == NULL) return 3;

    for (int argument = 7 + BUILDS; argument < count; argument++) {
        uint32_t chunk = (uint32_t)strtoul(arguments[argument], NULL, 10);
        figures measured[BUILDS] = {{0, 0, 0}};
        uint64_t wrong = 0;
        uint32_t firstWrong = 0;
        wide difference = 0;
        for (uint32_t first = 0; first < perChunk; first += perBlock) {
            for (int build = 0; build < BUILDS; build++) {
                readAll(results[build], sizeof(uint32_t), perBlock, from[build]);
                readAll(near[build], sizeof(double), perBlock, from[build]);
                if (hasFar) readAll(far[build], sizeof(double), perBlock, from[build]);
            }
            for (uint32_t k = 0; k < perBlock; k++) {
                uint32_t x = inputOf(chunk, first + k, stride);
                defined exact = define(x);
                uint32_t word = roundDefined(&exact);
                float input;
                memcpy(&input, &x, sizeof input);
                int isMeasured = isMeasurable(input, &exact, saturation);
                wide value = !exact.isWord ? valueOf(&exact) : isMeasured ? library(input) : 0;
                if (!exact.isWord && k % COMPARED == 0 && value != 0) {
                    wide apart = fabsl(library(input) / value - 1);
                    if (!(apart <= difference)) difference = apart;
                }
                isMeasured = isMeasured && fabsl(value) >= 0x1p-160L && fabsl(value) <= 0x1p160L;
                for (int build = 0; build < BUILDS; build++) {
                    double estimate = near[build][k];
                    int open = isOpen(estimate);
                    if (results[build][k] != word && wrong++ == 0) firstWrong = x;
                    if (isMeasured && !(hasFar && estimate == UNKNOWN)) measure(&measured[build], estimate, value, x);
                    if (hasFar && open) {
                        double second = far[build][k];
                        open = isOpen(second);
                        if (isMeasured && second != UNKNOWN) measure(&measured[build], second, value, x);
                    }
                    if (open) measured[build].doubts++;
                }
            }
        }
        printf("{\"chunk\":%u,\"wrong\":%llu,\"firstWrong\":%u,\"difference\":\"%.17Lg\",\"builds\":[", chunk,
               (unsigned long long)wrong, firstWrong, difference);
        for (int build = 0; build < BUILDS; build++)
            printf("%s{\"error\":\"%.17Lg\",\"at\":%u,\"doubts\":%llu}", build ? "," : "", measured[build].error,
                   measured[build].at, (unsigned long long)measured[build].doubts);
        printf("]}\n");
        fflush(stdout);
    }
    return 0;
}
