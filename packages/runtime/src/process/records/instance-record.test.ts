import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTestDirectory } from '../../../test/test-directory.ts';
import { getInstanceFiles, readInstanceRecord, writeInstanceRecord } from './instance-record.ts';

/** A record that version 0.1.0 wrote. */
const stored =
  '{"version":1,"instanceId":"i","deploymentId":"d","createdAt":"2026-01-02T03:04:05.678Z","bootId":"b","port":16384,"limits":{"cpuMillicores":500,"memoryBytes":1000000},"containment":"uid","account":{"uid":61185,"gid":61186},"cgroups":null,"address":{"host":"127.0.0.1","port":16384},"keeper":{"pid":7,"startTicks":99}}';

it('readInstanceRecord and writeInstanceRecord support the format of version 0.1.0, for upgrades and downgrades', async () => {
  const directory = await createTestDirectory();
  const files = { ...getInstanceFiles(directory, 'i'), record: join(directory, 'spec.json') };
  await writeFile(files.record, stored);
  const record = readInstanceRecord(files) ?? expect.fail('no record');
  expect(record.supervisor).toEqual({ pid: 7, startTicks: 99 });
  writeInstanceRecord(files, record);
  expect(JSON.parse(await readFile(files.record, 'utf8'))).toEqual(JSON.parse(stored));
});
