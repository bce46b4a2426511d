/** The sum of some numbers; 0 of none. */
export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The product of some numbers; 1 of none. */
export const product = (values: readonly number[]): number => values.reduce((total, value) => total * value, 1);
