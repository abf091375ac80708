import { expect, it, onTestFinished } from 'vitest';
import { evaluateCodeThatMayExit, evaluateInInstance, openRuntimeFixture } from '../conformance/fixture.ts';
import { noEngine } from '../docker/engine.ts';
import { describeUnless } from '../skip-with-reason.ts';
import { createTestNamespace, noCluster } from './cluster.ts';
import { createClusterSetup } from './setup.ts';

/** Makes a bot finish its session before it exits. */
const patience = `process.on('SIGTERM', () => undefined)`;

describeUnless(noCluster ?? noEngine, 'an instance whose namespace is being deleted', () => {
  it('continues until its bot exits, and does not prevent the deletion', async () => {
    const { name, kubectl, remove } = await createTestNamespace();
    onTestFinished(remove);
    const { start, runtime } = await openRuntimeFixture(createClusterSetup(() => name));
    const address = await start('a', patience);
    await kubectl('delete', 'namespace', name, '--wait=false');
    await expect.poll(() => runtime().list()).toMatchObject([{ instanceId: 'a', state: 'leaving', address }]);
    expect(await evaluateInInstance(address, '"talks"')).toBe('talks');

    await evaluateCodeThatMayExit(address, 'process.exit()');
    await runtime().stop('a', 0);
    expect(await runtime().inspect('a')).toMatchObject({ state: 'exited' });
    await runtime().forget('a');
    await expect.poll(() => kubectl('get', 'namespace', name, '--ignore-not-found', '-o', 'name')).toBe('');
  });
});
