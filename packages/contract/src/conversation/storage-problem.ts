// This file does not import zod, so that `botcli --help` starts quickly.

/** Why the service cannot store new lines of a running session at the moment. It tries again until it can. */
export const storageProblems = ['disk-full', 'failed'] as const;
export type StorageProblem = (typeof storageProblems)[number];

/** Returns sentences that say what happens to the conversation. */
export function describeStorageProblem(problem: StorageProblem): string {
  const reason = problem === 'disk-full' ? 'its disk is full' : 'of an error, which its log has';
  return `The service cannot store the conversation at the moment, because ${reason}. The session continues, and the service tries again.`;
}
