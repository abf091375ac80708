import { v7, validate } from 'uuid';

/** Ids are UUIDs of version 7: sortable by time, so that new rows lie together in an index. */
export function newId(): string {
  return v7();
}

/** Any UUID, in either case; PostgreSQL compares them as values, so case never matters. */
export function isUuid(text: string): boolean {
  return validate(text);
}
