/** JSON text to pass on unchanged: parsing would turn `1.0` into `1` and change `1234567890123456789`. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Writes a value as JSON. Fields of an object may be a `JsonText`. */
export function stringifyWithJsonText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value);
  if (!fields.some(([, field]) => field instanceof JsonText)) return JSON.stringify(value);
  const written = fields.map(([name, field]) => [name, field instanceof JsonText ? field.text : JSON.stringify(field)]);
  const present = written.filter(([, text]) => text !== undefined);
  return `{${present.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}
