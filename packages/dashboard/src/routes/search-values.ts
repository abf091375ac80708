/** Returns a URL search parameter, or undefined if it is not a string. */
export const text = (value: unknown) => (typeof value === 'string' ? value : undefined);

/** Returns a URL search parameter, or undefined if it is not a number. */
export const number = (value: unknown) => (typeof value === 'number' ? value : undefined);
