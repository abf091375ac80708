import { first } from './0001-first.ts';
import { builds } from './0002-builds.ts';
import { deployments } from './0003-deployments.ts';
import { logs } from './0004-logs.ts';

/** In order. Forward only: a migration that has been released is never edited or removed. */
export const migrations = [first, builds, deployments, logs];
