import { type ChildProcess } from 'node:child_process';
/** A directory tree that is meant to break whoever reads or removes it. */
export type HostileTree = {
  /** Body of an async function that runs in an empty directory under the tenant's account and may use Node's `fs`. */
  readonly make: string;
  /** What the service's own account adds. */
  readonly add?: (directory: string, outside: Outside) => void;
  /** A process that changes the tree while it is removed. It prints a line when it has begun, and ends with the tree. */
  readonly attack?: (directory: string, outside: Outside) => ChildProcess;
  readonly needsRoot?: true;
  /** `disk`: tmpfs can hold such a tree only with a recent kernel. `tmpfs`: the file systems of most disks cannot hold it. */
  readonly needs?: 'disk' | 'tmpfs';
  readonly outcome: 'removed' | 'quarantined' | 'removed or quarantined';
  /** Why a project with such a tree cannot be taken over from the account that built it; the default is that it can. */
  readonly buildError?: RegExp;
};
/** Files that no removal may touch. The directory has `outsideFiles` files, named from 0. */
export type Outside = {
  readonly directory: string;
  readonly file: string;
};
export declare const outsideFiles = 500;
export declare const hostileTrees: Readonly<Record<string, HostileTree>>;
