/**
 * Where control groups are mounted on this machine, and which of them this process is in. Version 1 has one hierarchy per
 * controller, version 2 one for all; both may be mounted at once, with the controllers divided between them (cgroups(7)).
 */
export type CgroupHierarchy = {
  readonly version: 1 | 2;
  /** Controllers of a version 1 hierarchy; empty for version 2, where a file in each group lists them. */
  readonly controllers: readonly string[];
  /** This process' own group in it, as a directory. */
  readonly ownDirectory: string;
};

/** From the texts of `/proc/self/mountinfo` and `/proc/self/cgroup`. Pure. */
export function findCgroupHierarchies(mountinfo: string, selfCgroup: string): readonly CgroupHierarchy[] {
  const found: CgroupHierarchy[] = [];
  for (const line of mountinfo.split('\n')) {
    const [before = '', after = ''] = line.split(' - ', 2);
    const [, , , root = '', mountPoint = ''] = before.split(' ').map(unescapeMountPath);
    const [type, , options = ''] = after.split(' ');
    if (type === 'cgroup2') {
      found.push({ version: 2, controllers: [], ownDirectory: within(mountPoint, root, ownPath(selfCgroup, '')) });
    } else if (type === 'cgroup') {
      const controllers = options.split(',').filter((option) => ownPath(selfCgroup, option) !== null);
      if (controllers.length === 0) continue;
      const own = ownPath(selfCgroup, controllers[0] ?? '');
      found.push({ version: 1, controllers, ownDirectory: within(mountPoint, root, own) });
    }
  }
  return found;
}

/** Lines are `id:controllers:path`; version 2 is the one without controllers. */
function ownPath(selfCgroup: string, controller: string): string | null {
  for (const line of selfCgroup.split('\n')) {
    const [, controllers, ...path] = line.split(':');
    if (controllers?.split(',').includes(controller) === true) return path.join(':');
  }
  return null;
}

/** In a container the mount may begin at the container's own group, whose path is then to be left out. */
function within(mountPoint: string, root: string, path: string | null): string {
  if (path === null || path.startsWith('/..')) return mountPoint;
  const rest = root !== '/' && (path === root || path.startsWith(`${root}/`)) ? path.slice(root.length) : path;
  return rest === '/' || rest === '' ? mountPoint : mountPoint + rest;
}

/** Spaces and the like are octal in mountinfo (proc_pid_mountinfo(5)). */
function unescapeMountPath(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
