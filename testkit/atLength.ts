/**
 * Whether tests play everything that they can (`npm run test:length`, in `.ci/run`), or the part that `npm test` has
 * time for.
 */
export const AT_LENGTH = process.env.REFUTE_AT_LENGTH === "true";

/** All where everything is played, else every second one, from the first (0) or from the second (1). */
export const everySecond = <T>(all: readonly T[], from: 0 | 1): readonly T[] =>
  AT_LENGTH ? all : all.filter((_, k) => k % 2 === from);
