/** The slowest download: one that takes longer, and a minute, is given up. */
const BYTES_PER_SECOND = 2 ** 18;
const SPARE_SECONDS = 60;
const MAX_SECONDS = 86_400;

/** The seconds that fetching so many bytes may take. */
export const secondsFor = (bytes: number): number => Math.min(SPARE_SECONDS + bytes / BYTES_PER_SECOND, MAX_SECONDS);
