import { first } from './0001-first.ts';

/** In order. Forward only: a migration that has been released is never edited or removed. */
export const migrations = [first];
