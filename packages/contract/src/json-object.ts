/** The fields of a parsed JSON or TOML object, not checked. Empty if `value` is not an object. */
export function getObjectFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}
