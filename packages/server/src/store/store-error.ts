/** A sentence for the operator: why the database cannot be used, and what to do about it. Never holds a secret. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}
