/**
 * Whether tests play more than the part that `npm test` has time for: all that they can, or what that part leaves out.
 * `npm run verify -- length`, in `.ci/run`, asks for more.
 */
export const AT_LENGTH = process.env.REFUTE_AT_LENGTH === "true";

/** A test that `npm test` has no time for: of real nodes, of killed processes, of the largest numbers of things. */
export const itAtLength = (title: string, test: (this: Mocha.Context) => Promise<void> | void): void => {
  if (AT_LENGTH) it(title, test);
};

/** A test that `npm test` plays wholly, beside others that it plays in part: at length it is not played again. */
export const itInTime = (title: string, test: (this: Mocha.Context) => Promise<void> | void): void => {
  if (!AT_LENGTH) it(title, test);
};

/** Those that do not take long; at length the others. */
export const inTime = <T extends { takesLong?: boolean }>(all: readonly T[]): readonly T[] =>
  all.filter(({ takesLong = false }) => takesLong === AT_LENGTH);

/** Every second one, from the first (0) or from the second (1); at length the others. */
export const everySecond = <T>(all: readonly T[], from: 0 | 1): readonly T[] =>
  all.filter((_, k) => (k % 2 === from) !== AT_LENGTH);
