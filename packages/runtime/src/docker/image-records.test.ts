import { expect, it } from 'vitest';
import { createTestDirectory } from '../../test/test-directory.ts';
import { openImageRecords } from './image-records.ts';

const hourMs = 60 * 60 * 1000;

async function openTestRecords() {
  const directory = await createTestDirectory();
  let time = Date.now();
  const records = openImageRecords(directory, () => new Date(time));
  return {
    records,
    /** Lets hours pass. The service looks for unused images each hour. */
    wait: (hours: number) => {
      for (let hour = 0; hour < hours; hour += 1) {
        time += hourMs;
        records.findUnused();
      }
    },
  };
}

it('findUnused returns an image a day after its last deployment was retained', async () => {
  const { records, wait } = await openTestRecords();
  records.add('first', 'bot@sha256:1');
  records.retain(new Set(['first']));
  wait(48);
  expect(records.findUnused()).toEqual([]);
  records.retain(new Set());
  wait(23);
  expect(records.findUnused()).toEqual([]);
  wait(1);
  expect(records.findUnused()).toEqual(['bot@sha256:1']);
  await records.remove('bot@sha256:1');
  expect(records.has('bot@sha256:1')).toBe(false);
  expect(records.findUnused()).toEqual([]);
});

it('findUnused does not return an image that another retained deployment uses, such as a rollback', async () => {
  const { records, wait } = await openTestRecords();
  records.add('first', 'bot@sha256:1');
  records.add('rollback', 'bot@sha256:1');
  records.retain(new Set(['rollback']));
  wait(48);
  expect(records.findUnused()).toEqual([]);
});
