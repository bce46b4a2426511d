/** Resolves after a time, milliseconds. The time is that of `setTimeout`, which tests may replace. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));
