/** Returns a URL search parameter, or undefined if it is not a string. */
export const readTextParameter = (value: unknown) => (typeof value === 'string' ? value : undefined);

/** Returns a URL search parameter, or undefined if it is not a number. */
export const readNumberParameter = (value: unknown) => (typeof value === 'number' ? value : undefined);
