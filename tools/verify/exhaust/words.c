/*
 * The words of float32 that definition.c gives, for tests. Argument: a function. stdin: little-endian uint32, the bits
 * of inputs; stdout: as many, of results.
 */
#include "definition.h"

#include <stdio.h>

int main(int count, char **arguments) {
    definition define = count == 2 ? definitionOf(arguments[1]) : 0;
    if (!define) return 2;
    uint32_t x;
    while (fread(&x, sizeof x, 1, stdin) == 1) {
        defined exact = define(x);
        uint32_t word = roundDefined(&exact);
        fwrite(&word, sizeof word, 1, stdout);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
