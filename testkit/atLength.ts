/**
 * True when tests play at length (`npm run verify -- length`, in `.ci/run`): either everything they can play, or the
 * part that `npm test` leaves out for lack of time.
 */
export const AT_LENGTH = process.env.REFUTE_AT_LENGTH === "true";

/**
 * Declares a test that takes too long for `npm test`: real nodes, killed processes, or the largest numbers of things.
 */
export const itAtLength = (title: string, test: (this: Mocha.Context) => Promise<void> | void): void => {
  if (AT_LENGTH) it(title, test);
};

/** Declares a test that `npm test` plays wholly. A run at length does not repeat the test. */
export const itInTime = (title: string, test: (this: Mocha.Context) => Promise<void> | void): void => {
  if (!AT_LENGTH) it(title, test);
};

/** Those that do not take long; at length the others. */
export const inTime = <T extends { takesLong?: boolean }>(all: readonly T[]): readonly T[] =>
  all.filter(({ takesLong = false }) => takesLong === AT_LENGTH);

/** Every fourth one, from the first (0) or from the second (1); at length the others. */
export const everyFourth = <T>(all: readonly T[], from: 0 | 1): readonly T[] =>
  all.filter((_, k) => (k % 4 === from) !== AT_LENGTH);
