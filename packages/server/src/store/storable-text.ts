/** Replaces NUL and halves of surrogate pairs, which PostgreSQL cannot store. A half remains if a text was cut within a pair. */
export function toStorableText(text: string): string {
  return text.replaceAll(/\0|\p{Surrogate}/gu, '\ufffd');
}
