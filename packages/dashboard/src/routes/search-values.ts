/** Returns a URL search parameter, or undefined if it is not a string. */
export const readText = (value: unknown) => (typeof value === 'string' ? value : undefined);

/** Returns a URL search parameter, or undefined if it is not a number. */
export const readNumber = (value: unknown) => (typeof value === 'number' ? value : undefined);
