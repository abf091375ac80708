import { v5, v7, validate } from 'uuid';

/** UUIDs of version 7 sort by time, so that new rows are adjacent in an index. */
export function newId(): string {
  return v7();
}

/** Derives an id from the owner's id and a name, always the same (UUID version 5, RFC 9562, section 5.5). */
export function deriveNameBasedUuid(ownerId: string, name: string): string {
  return v5(name, ownerId);
}

/** Whether the text is a UUID of any version, in upper or lower case (PostgreSQL ignores the case). */
export function isUuid(text: string): boolean {
  return validate(text);
}
