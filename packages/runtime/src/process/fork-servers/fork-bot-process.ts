import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { listCgroupProcsFiles } from '../containment/cgroup.ts';
import { instanceIdVariable } from '../containment/containment.ts';
import type { ProcessCreator } from '../instances/launch-contained.ts';
import type { ForkServer } from './fork-server.ts';

/** Forks a bot. The supervisor moves the process into the instance's control groups before it confirms the fork. */
export function forkBotProcess(server: ForkServer, environment: Readonly<Record<string, string>>): ProcessCreator {
  return async (record, { files, isolation }) => {
    const { supervisor } = server.record;
    if (supervisor === null) throw new Error('The fork server has no supervisor.');
    mkdirSync(dirname(files.output), { recursive: true, mode: 0o700 });
    const { identity, go, abandon } = await server.fork({
      instance: record.instanceId,
      output: files.output,
      exit: files.exit,
      uid: record.account?.uid ?? null,
      mounts: isolation.privateTmpOfForks ? { '/var/tmp': files.varTmp, '/tmp': files.tmp } : {},
      cgroups: record.cgroups === null ? [] : listCgroupProcsFiles(record.cgroups),
      mark: record.containment === 'mark' ? `${instanceIdVariable}=${record.instanceId}` : null,
      environment,
    });
    return { supervisor, main: identity, supervisorProgram: null, go, abandon };
  };
}
