/** A search parameter of an address, or undefined if it is not text. */
export const text = (value: unknown) => (typeof value === 'string' ? value : undefined);

/** A search parameter of an address, or undefined if it is not a number. */
export const number = (value: unknown) => (typeof value === 'number' ? value : undefined);
