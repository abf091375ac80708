import { v5, v7, validate } from 'uuid';

/** Ids are UUIDs of version 7: sortable by time, so that new rows lie together in an index. */
export function newId(): string {
  return v7();
}

/** The id of what belongs to exactly one other thing: the same each time it is asked for (RFC 9562 5.5). */
export function idWithin(ownerId: string, name: string): string {
  return v5(name, ownerId);
}

/** Any UUID, in either case; PostgreSQL compares them as values, so case never matters. */
export function isUuid(text: string): boolean {
  return validate(text);
}
