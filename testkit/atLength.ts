/**
 * Whether tests play everything that they can (`npm run test:length`, in `.ci/run`), or the part that `npm test` has
 * time for.
 */
export const AT_LENGTH = process.env.REFUTE_AT_LENGTH === "true";
