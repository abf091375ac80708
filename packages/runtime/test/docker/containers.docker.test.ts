import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { InstanceSpec } from '../../src/runtime.ts';
import { evaluateInInstance, openRuntimeFixture, type RuntimeFixture, waitForEvent } from '../conformance/fixture.ts';
import { createTestInstanceSpec } from '../instance-spec.ts';
import { describeUnless } from '../skip-with-reason.ts';
import { noEngine, runDocker } from './engine.ts';
import { dockerRuntimeSetup, getTestHostId, openDockerRuntime } from './setup.ts';

const neverAborted = new AbortController().signal;
const open = () => openRuntimeFixture(dockerRuntimeSetup);
const containerOf = ({ idOf }: RuntimeFixture, name: string) => `bothost-${idOf(name)}`;

/** Returns JavaScript that connects to an address and evaluates to `connected` or to the code of the error. */
const connect = (host: string, port: number) => `new Promise((resolve) => {
  const socket = require('net').connect(${port}, ${JSON.stringify(host)});
  socket.setTimeout(2000, () => { socket.destroy(); resolve('timeout'); });
  socket.on('connect', () => { socket.destroy(); resolve('connected'); }).on('error', (error) => resolve(error.code)); })`;

const readStatus = `Object.fromEntries(require('fs').readFileSync('/proc/self/status', 'utf8').split('\\n').map((line) => line.split(':\\t')))`;

/** Makes an image with a further instruction of a Dockerfile, for this test only. */
async function changeImage({ prepared }: InstanceSpec, instruction: string): Promise<string> {
  const container = await runDocker('create', String(prepared['image']));
  const image = await runDocker('commit', '-c', instruction, container);
  await runDocker('rm', '-v', container);
  onTestFinished(() => void runDocker('rmi', '-f', image));
  return image;
}

describeUnless(noEngine, 'a container of the Docker driver', () => {
  it('reaches neither another container nor what listens on the loopback address of the machine', async () => {
    const fixture = await open();
    const [victim, attacker] = [await fixture.start('victim'), await fixture.start('attacker')];
    const host = 'host' in victim ? victim.host : '';
    expect(await evaluateInInstance(attacker, connect(host, 8080))).not.toBe('connected');
    expect(await evaluateInInstance(attacker, connect('127.0.0.1', 8080))).toBe('connected');
    const service = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    onTestFinished(() => void service.close());
    await once(service, 'listening');
    const address = service.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const gateway = host.replace(/\d+$/, '1');
    for (const target of ['127.0.0.1', gateway])
      expect(await evaluateInInstance(attacker, connect(target, port))).toBe('ECONNREFUSED');
  });

  it('reaches no port of the machine and no metadata address with the documented firewall rules', async () => {
    const fixture = await open();
    const address = await fixture.start('walled');
    const gateway = 'host' in address ? address.host.replace(/\d+$/, '1') : '';
    const service = createServer((socket) => socket.end()).listen(0, gateway);
    onTestFinished(() => void service.close());
    await once(service, 'listening');
    const bound = service.address();
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
    expect(await evaluateInInstance(address, connect(gateway, port))).toBe('connected');
    const network = await runDocker('inspect', '-f', '{{.HostConfig.NetworkMode}}', containerOf(fixture, 'walled'));
    const text = await readFile(new URL('../../../../docs/images.md', import.meta.url), 'utf8');
    const rules = [...text.matchAll(/^iptables (-I .*)$/gm)].map(([, rule = '']) => rule.replace('bothost-+', network));
    expect(rules).toHaveLength(2);
    for (const rule of rules) {
      execFileSync('iptables', ['-w', ...rule.split(' ')]);
      onTestFinished(() => void execFileSync('iptables', ['-w', ...rule.replace('-I', '-D').split(' ')]));
    }
    expect(await evaluateInInstance(address, connect(gateway, port))).toBe('ECONNREFUSED');
    expect(await evaluateInInstance(address, connect('169.254.169.254', 80))).toBe('ECONNREFUSED');
  });

  it('has no capabilities, gains no privileges, and dumps no core', async () => {
    const fixture = await open();
    const address = await fixture.start('bare');
    expect(await evaluateInInstance(address, readStatus)).toMatchObject({
      CapEff: '0000000000000000',
      CapBnd: '0000000000000000',
      NoNewPrivs: '1',
      Seccomp: '2',
    });
    const limits = await evaluateInInstance(address, `require('fs').readFileSync('/proc/self/limits', 'utf8')`);
    expect(limits).toMatch(/Max core file size +0 +0/);
  });

  it('has the capabilities of the setting', async () => {
    const fixture = await openRuntimeFixture({
      ...dockerRuntimeSetup,
      open: (dataDirectory) => openDockerRuntime(dataDirectory, { capabilities: ['SETGID', 'SETUID'] }),
    });
    expect(await evaluateInInstance(await fixture.start('gosu'), readStatus)).toMatchObject({
      CapEff: '00000000000000c0',
    });
    expect(
      await evaluateInInstance(
        await fixture.start('gosu-again'),
        'process.setgid(1); process.setuid(1); process.getuid()',
      ),
    ).toBe(1);
  });

  it.each([
    ['', '/app'],
    [' in a volume of its image', '/data'],
  ])('is killed when it exceeds the disk limit%s, with the reason', async (_, directory) => {
    const fixture = await openRuntimeFixture({
      ...dockerRuntimeSetup,
      open: (dataDirectory) => openDockerRuntime(dataDirectory, { instanceDiskBytes: 8 * 1024 * 1024 }),
    });
    const file = `${directory}/large`;
    const spec = await fixture.spec('writer', `require('fs').writeFileSync('${file}', Buffer.alloc(12 * 1024 * 1024))`);
    const image = await changeImage(spec, 'VOLUME /data');
    await fixture.runtime().start({ ...spec, prepared: { ...spec.prepared, image } }, neverAborted);
    const { exit } = await waitForEvent(fixture.runtime(), 'exited', 'writer');
    expect(exit).toMatchObject({
      reason: 'disk',
      diskLimit: 'Its files took 12.0 MiB of disk space. The limit is 8.0 MiB.',
    });
  });

  it('has ended by SIGKILL if somebody removes it, or for an unknown reason if no server ran', async () => {
    const fixture = await open();
    await Promise.all([fixture.start('seen'), fixture.start('unseen')]);
    await runDocker('rm', '-f', containerOf(fixture, 'seen'));
    expect((await waitForEvent(fixture.runtime(), 'exited', 'seen')).exit).toMatchObject({
      reason: 'exited',
      signal: 'SIGKILL',
    });
    await fixture.closeServer();
    await runDocker('rm', '-f', containerOf(fixture, 'unseen'));
    const next = await fixture.restartServer();
    expect((await waitForEvent(next, 'exited', 'unseen')).exit).toMatchObject({
      reason: 'unknown',
      code: null,
      signal: null,
    });
    expect(await next.inspect('unseen')).toMatchObject({ state: 'exited' });
  });

  it('is found and stopped even if somebody has renamed and paused it', async () => {
    const fixture = await open();
    const address = await fixture.start('moved');
    const name = `${containerOf(fixture, 'moved')}-renamed`;
    await runDocker('rename', containerOf(fixture, 'moved'), name);
    await runDocker('pause', name);
    const next = await fixture.restartServer();
    expect(await next.list()).toMatchObject([{ instanceId: 'moved', state: 'ready', address }]);
    await next.stop('moved', 100);
    await next.forget('moved');
    expect(await runDocker('ps', '-aq', '--filter', `name=${name}`)).toBe('');
  });

  it('of somebody else is not touched if it has the name of an instance', async () => {
    const fixture = await open();
    const spec = await fixture.spec('taken');
    const name = containerOf(fixture, 'taken');
    const image = String(spec.prepared['image']);
    await runDocker('create', '--name', name, image);
    onTestFinished(() => void runDocker('rm', '-f', name));
    await expect(fixture.runtime().start(spec, neverAborted)).rejects.toMatchObject({
      message: `The name "${name}" belongs to a container that this service did not create. Rename it or remove it.`,
      kind: 'platform',
    });
    expect(await runDocker('inspect', '-f', '{{.State.Status}}', name)).toBe('created');
  });

  it('fails the start with the message of the engine if its program is missing', async () => {
    const fixture = await open();
    const spec = await fixture.spec('broken');
    const image = await changeImage(spec, 'CMD ["/nonexistent"]');
    const broken = createTestInstanceSpec({ ...spec, prepared: { ...spec.prepared, image } });
    await expect(fixture.runtime().start(broken, neverAborted)).rejects.toMatchObject({
      kind: 'bot',
      exit: { code: 127 },
      tail: expect.stringContaining('/nonexistent'),
    });
  });

  it('is removed by the next server if a killed one created it and did not start it', async () => {
    const fixture = await open();
    const { prepared } = await fixture.spec('left');
    const hostId = getTestHostId(fixture.dataDirectory);
    await fixture.closeServer();
    const labels = ['--label', `bothost.host=${hostId}`, '--label', `bothost.instance=${fixture.idOf('left')}`];
    await runDocker('create', '--name', containerOf(fixture, 'left'), ...labels, String(prepared['image']));
    await fixture.restartServer();
    expect(await runDocker('ps', '-aq', '--filter', `name=${containerOf(fixture, 'left')}`)).toBe('');
  });

  it('leaves neither a container nor a network once it is forgotten and the server has closed', async () => {
    const fixture = await open();
    await fixture.start('last');
    const inspect = ['inspect', '-f', '{{.HostConfig.NetworkMode}}', containerOf(fixture, 'last')];
    const network = await runDocker(...inspect);
    await fixture.runtime().stop('last', 0);
    await fixture.runtime().forget('last');
    await fixture.closeServer();
    expect(await runDocker('ps', '-aq', '--filter', `name=${containerOf(fixture, 'last')}`)).toBe('');
    expect(await runDocker('network', 'ls', '-q', '--filter', `name=${network}`)).toBe('');
  });
});
