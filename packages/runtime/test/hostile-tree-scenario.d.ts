import type { Runtime, RuntimeLogger } from '../src/runtime.ts';
import { type Outside } from './hostile-trees.ts';

/** Owns what an earlier server left of bots and builds. */
declare const tenant: {
  uid: number;
  gid: number;
} | null;
/** What became of each tree in each place, by the names of both: `removed`, `quarantined`, or what went wrong. */
export type Outcomes = Readonly<Record<string, Readonly<Record<string, string>>>>;
export type ScenarioOptions = {
  readonly open: (options: { readonly dataDirectory: string; readonly logger: RuntimeLogger }) => Promise<Runtime>;
  /** An empty directory through which every account can pass. */
  readonly root: string;
  /** Names of `hostileTrees`. */
  readonly names: readonly string[];
};
/**
 * Leaves each tree where bots and builds leave their files, while a server runs and before one starts, and reports what the
 * servers did with it. Rejects if a server does not start, or if a file outside the trees is lost.
 */
export declare function runHostileTrees({ open, root, names }: ScenarioOptions): Promise<Outcomes>;
/** A logger that remembers which trees were quarantined, and what it says about a tree that was to be removed. */
export declare function watchQuarantine(): {
  logger: RuntimeLogger;
  describeRemoval: (path: string) => string;
  requireReported: (quarantineDirectory: string) => void;
};
/** Removes all that `runHostileTrees` made, also what only root can. */
export declare function removeHostileTrees(root: string): Promise<void>;
/** Makes trees in new directories. */
export declare function makeTrees(
  names: readonly string[],
  directoryOf: (name: string) => string,
  options?: {
    readonly account?: typeof tenant;
    readonly outside?: Outside;
  },
): Promise<void>;
export declare function makeOutside(root: string): Outside;
export declare function requireIntact(outside: Outside): void;
