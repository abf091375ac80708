import { expect, it } from 'vitest';
import { findCgroupHierarchies } from './cgroup-mounts.ts';

it('findCgroupHierarchies finds the cgroup version 2 hierarchy if no other hierarchy is mounted', () => {
  const mounts = '30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n';
  expect(findCgroupHierarchies(mounts, '0::/system.slice/bothost.service\n')).toEqual([
    { version: 2, controllers: [], ownDirectory: '/sys/fs/cgroup/system.slice/bothost.service' },
  ]);
});

it('findCgroupHierarchies finds version 1 hierarchies, and a version 2 hierarchy without controllers', () => {
  const mounts = [
    '23 1 0:20 / /proc rw - proc proc rw',
    '32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct',
    '35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory',
    '40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd',
    '41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw',
  ].join('\n');
  const own = '9:name=systemd:/\n4:memory:/user/1:x\n1:cpu,cpuacct:/\n0::/\n';
  expect(findCgroupHierarchies(mounts, own)).toEqual([
    { version: 1, controllers: ['cpu', 'cpuacct'], ownDirectory: '/sys/fs/cgroup/cpu,cpuacct' },
    { version: 1, controllers: ['memory'], ownDirectory: '/sys/fs/cgroup/memory/user/1:x' },
    { version: 1, controllers: ['name=systemd'], ownDirectory: '/sys/fs/cgroup/systemd' },
    { version: 2, controllers: [], ownDirectory: '/sys/fs/cgroup/unified' },
  ]);
});

it('findCgroupHierarchies finds the control group of the process if a container mounts only a subtree of the hierarchy', () => {
  const mounts = '35 31 0:32 /docker/abc /my\\040groups/memory ro - cgroup cgroup rw,memory';
  expect(findCgroupHierarchies(mounts, '4:memory:/docker/abc/inner')[0]?.ownDirectory).toBe('/my groups/memory/inner');
  expect(findCgroupHierarchies(mounts, '4:memory:/docker/abc')[0]?.ownDirectory).toBe('/my groups/memory');
  expect(findCgroupHierarchies(mounts, '4:memory:/../../elsewhere')[0]?.ownDirectory).toBe('/my groups/memory');
});
