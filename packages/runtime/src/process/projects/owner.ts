import { createHash } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type BotProjectSource, ProjectPreparationError } from '../../runtime.ts';
import { derivePreferredUnixAccountId, maxUnixAccountId, minUnixAccountId } from '../containment/accounts.ts';

/**
 * Returns the owner of a project: the organization that built it, or the directory if the operator serves an agent from a
 * directory. Projects of one owner share a build account, a cache and Python environments. The returned text is also part of
 * names of directories and control groups.
 */
export function getProjectOwner(source: BotProjectSource): string {
  if (source.kind === 'directory') return `directory-${shortHash(source.path)}`;
  return getProjectOwnerForOrganization(source.organizationId);
}

export function getProjectOwnerForOrganization(id: string): string {
  return `organization-${/^[A-Za-z0-9-]{1,48}$/.test(id) ? id : shortHash(id)}`;
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/**
 * Returns the group id of an owner; processes in this group may read the owner's projects. The id is stored as the group of the
 * owner's environments directory. Synchronous, so that two owners never choose the same id.
 */
export function assignOwnerGroup(environmentsDirectory: string, projectsDirectory: string, owner: string): number {
  const directory = join(environmentsDirectory, owner);
  const present = groupOf(directory);
  if (present !== null && present >= minUnixAccountId && present <= maxUnixAccountId) return present;
  const taken = new Set([environmentsDirectory, projectsDirectory].flatMap(groupsIn));
  const count = maxUnixAccountId - minUnixAccountId + 1;
  const first = derivePreferredUnixAccountId(directory) - minUnixAccountId;
  for (let step = 0; step < count; step++) {
    const gid = minUnixAccountId + ((first + step) % count);
    if (taken.has(gid)) continue;
    mkdirSync(directory, { recursive: true, mode: 0o710 });
    chownSync(directory, 0, gid);
    chmodSync(directory, 0o710);
    return gid;
  }
  throw new ProjectPreparationError('This machine has too many agents. Delete agents that are no longer needed.');
}

function groupsIn(directory: string): readonly number[] {
  return readdirSync(directory).flatMap((name) => groupOf(join(directory, name)) ?? []);
}

function groupOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.gid ?? null;
}
