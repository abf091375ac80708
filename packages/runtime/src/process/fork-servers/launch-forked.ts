import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { cgroupProcsFiles } from '../containment/cgroup.ts';
import { INSTANCE_ID_VARIABLE } from '../instances/environment.ts';
import { writeRecord } from '../instances/instance-record.ts';
import { createRecord, type LaunchedProgram } from '../instances/launch-contained.ts';
import type { ForkServer } from './fork-server.ts';

/**
 * Forks an instance. Steps: record, control groups, process, record with process. The supervisor moves the process into
 * the groups before it reports it, and the record names the process before `go`. If it rejects, no process is left.
 */
export async function launchForked(
  options: Parameters<typeof createRecord>[0],
  server: ForkServer,
  environment: Readonly<Record<string, string>>,
): Promise<LaunchedProgram> {
  const { files } = options;
  const { supervisor } = server.record;
  if (supervisor === null) throw new Error('The fork server has no supervisor.');
  const record = createRecord(options);
  mkdirSync(dirname(files.output), { recursive: true, mode: 0o700 });
  const { identity, go, abandon } = await server.fork({
    instance: record.instanceId,
    output: files.output,
    exit: files.exit,
    uid: record.account?.uid ?? null,
    cgroups: record.cgroups === null ? [] : cgroupProcsFiles(record.cgroups),
    mark: record.containment === 'mark' ? `${INSTANCE_ID_VARIABLE}=${record.instanceId}` : null,
    environment,
  });
  try {
    const complete = { ...record, supervisor, main: identity };
    writeRecord(files, complete);
    return { record: complete, supervisor, child: null, go };
  } catch (error) {
    abandon();
    throw error;
  }
}
