/** A mounted cgroup hierarchy: one per set of controllers in version 1, one in version 2. A machine can have both (cgroups(7)). */
export type CgroupHierarchy = {
  readonly version: 1 | 2;
  /** Controllers of a version 1 hierarchy. Empty for version 2, where each group lists its own controllers. */
  readonly controllers: readonly string[];
  readonly ownDirectory: string;
};

export function findCgroupHierarchies(mountinfo: string, selfCgroup: string): readonly CgroupHierarchy[] {
  const found: CgroupHierarchy[] = [];
  for (const line of mountinfo.split('\n')) {
    const [before = '', after = ''] = line.split(' - ', 2);
    const [, , , root = '', mountPoint = ''] = before.split(' ').map(unescapeMountPath);
    const [type, , options = ''] = after.split(' ');
    if (type === 'cgroup2') {
      found.push({
        version: 2,
        controllers: [],
        ownDirectory: directoryInMount(mountPoint, root, ownPath(selfCgroup, '')),
      });
    } else if (type === 'cgroup') {
      const controllers = options.split(',').filter((option) => ownPath(selfCgroup, option) !== null);
      if (controllers.length === 0) continue;
      const own = ownPath(selfCgroup, controllers[0] ?? '');
      found.push({ version: 1, controllers, ownDirectory: directoryInMount(mountPoint, root, own) });
    }
  }
  return found;
}

function ownPath(selfCgroup: string, controller: string): string | null {
  for (const line of selfCgroup.split('\n')) {
    const [, controllers, ...path] = line.split(':');
    if (controllers?.split(',').includes(controller) === true) return path.join(':');
  }
  return null;
}

/** The directory of the control group `path`. In a container, the mounted tree may begin at the container's own group, `root`. */
function directoryInMount(mountPoint: string, root: string, path: string | null): string {
  if (path === null || path.startsWith('/..')) return mountPoint;
  const rest = root !== '/' && (path === root || path.startsWith(`${root}/`)) ? path.slice(root.length) : path;
  return rest === '/' || rest === '' ? mountPoint : mountPoint + rest;
}

/** mountinfo escapes white space and backslashes in octal (proc_pid_mountinfo(5)). */
function unescapeMountPath(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
