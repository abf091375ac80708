import { expect, it } from 'vitest';
import { findFreePort } from '../../src/process/starts/free-port.ts';
import { openRuntimeFixture } from '../conformance/fixture.ts';
import { availableContainmentKinds, createProcessRuntimeSetup } from './setup.ts';

it('the driver does not reuse the port of an ended instance before `forget` is called for that instance', async () => {
  const { start, runtime, idOf } = await openRuntimeFixture(createProcessRuntimeSetup(availableContainmentKinds[0]));
  const [first, second] = await instancesOfOnePort(idOf);
  const address = await start(first);
  await runtime().stop(first, 0);
  expect(await start(second)).not.toEqual(address);
});

/** Returns two instance ids for which the search for a free port begins at the same port. */
async function instancesOfOnePort(idOf: (name: string) => string): Promise<[string, string]> {
  const names = new Map<number, string>();
  for (let count = 0; ; count++) {
    const name = `instance-${count}`;
    const port = await findFreePort(`${idOf(name)} 1`, new Set());
    const other = names.get(port);
    if (other !== undefined) return [other, name];
    names.set(port, name);
  }
}
