import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import {
  noPrivateEngine,
  type PrivateEngine,
  startPrivateEngine,
} from '../../../runtime/test/docker/private-engine.ts';
import { listLiveFiles, readLiveFile } from '../../../runtime/test/list-live-files.ts';
import { describeUnless } from '../../../runtime/test/skip-with-reason.ts';
import { startAgentSession, stopAgentSession, waitForSessionEnd } from '../support/client.ts';
import {
  createRegistryFolder,
  type DockerRegistry,
  type RegistryFolder,
  startDockerRegistry,
  writePasswordFile,
} from '../support/docker-registry.ts';
import { listLeakableCredentialEncodings } from '../support/fake-image-registry.ts';
import { insertSecondOrganization, type SecondOrganization } from '../support/second-organization.ts';
import { networkAddress } from '../support/turn-server.ts';
import {
  clientOf,
  type DockerService,
  expectVersion,
  importVersionedBot,
  startDockerService,
} from './docker-service.ts';

const credentials = 'robot:c4n4ry-of-the-registry';
const wrongCredentials = 'robot:an0ther-c4n4ry';

describeUnless(noPrivateEngine, 'a private registry with TLS', () => {
  let folder: RegistryFolder;
  let registry: DockerRegistry;
  let engine: PrivateEngine;
  let service: DockerService;
  let neighbors: SecondOrganization;
  let host: string;
  let image: string;

  beforeAll(async () => {
    // On loopback, the engine accepts every certificate.
    folder = await createRegistryFolder(networkAddress);
    const [user = '', password = ''] = credentials.split(':');
    const path = await writePasswordFile(folder, user, password);
    registry = await startDockerRegistry(folder, { htpasswd: { realm: 'test', path } }, true, networkAddress);
    host = `${networkAddress}:${registry.port}`;
    engine = await startPrivateEngine({ environment: { SSL_CERT_FILE: folder.certificate } });
    image = `${host}/team/bot:1`;
    await importVersionedBot(engine, image, 'one');
    await engine.run('login', '--username', user, '--password', password, host);
    await engine.run('push', image);
    await engine.run('rmi', image);
    await engine.run('logout', host);
    service = await startDockerService(engine, { BOTHOST_REGISTRIES: host });
    neighbors = await insertSecondOrganization(service);
  }, 120_000);
  afterAll(async () => {
    await neighbors.close();
    await service.close();
    await engine.close();
    await registry.close();
    await folder.remove();
  });

  const setCredentials = async (text: string) => {
    const params = { setName: 'own' };
    const body = { isImagePullSecret: true, host, secretValue: btoa(text) };
    await service.client.putSecrets({ params, body });
    const readSets = async () => (await service.client.listSecrets({ query: {} })).sets;
    await expect.poll(readSets).toMatchObject([{ name: 'own', status: 'ready' }]);
  };
  /** Starts a session, and expects that the first deployment serves it. */
  const expectFirstDeployment = async () => {
    const sessionId = await startAgentSession(service, 'bot');
    await expectVersion(service, 'bot', sessionId, 'one');
    await stopAgentSession(service, 'bot', sessionId);
    expect(await waitForSessionEnd(service, 'bot', sessionId)).toMatchObject({ completionStatus: 'SESSION_STOPPED' });
  };

  it('gives its image to an agent with the pull secret', async () => {
    await setCredentials(credentials);
    const agent = await service.deploy('bot', image, 'own');
    expect(agent.errors).toEqual([]);
    expect(agent).toMatchObject({ activeDeploymentId: agent.desiredDeploymentId });
    await expectFirstDeployment();
  });

  it.each([
    ['a missing tag', () => image.replace(/1$/, '2'), 'own', 'PCC_IMAGE_NOT_FOUND', 'Check its name and tag'],
    ['a missing repository', () => `${host}/team/none:1`, 'own', 'PCC_IMAGE_NOT_FOUND', 'Check its name and tag'],
    ['no pull secret', () => image, null, 'PCC_IMAGE_PULL_UNAUTHORIZED', 'botcli cloud secrets image-pull-secret NAME'],
  ])('fails a deployment with %s, and the former one keeps serving', async (_, name, secret, code, advice) => {
    const { activeDeploymentId } = await service.client.getAgent({ params: { agentName: 'bot' } });
    const agent = await service.deploy('bot', name(), secret);
    expect(agent.activeDeploymentId).toBe(activeDeploymentId);
    expect(agent.errors).toMatchObject([{ code, message: expect.stringContaining(advice) }]);
    await expectFirstDeployment();
  });

  it('is asked with the newest revision of the pull secret at each deploy', async () => {
    await setCredentials(wrongCredentials);
    const refused = await service.deploy('bot', image, 'own');
    expect(refused.errors).toMatchObject([
      {
        code: 'PCC_IMAGE_PULL_UNAUTHORIZED',
        message: expect.stringContaining('rejects the credentials of the image pull secret own'),
      },
    ]);
    await expectFirstDeployment();
    await setCredentials(credentials);
    const agent = await service.deploy('bot', image, 'own');
    expect(agent.errors).toEqual([]);
    expect(agent.activeDeploymentId).toBe(agent.desiredDeploymentId);
  });

  it('keeps its image from another organization, although the engine has it', async () => {
    const { deployment, desiredDeploymentId } = await service.client.getAgent({ params: { agentName: 'bot' } });
    const params = { agentName: 'bot', deploymentId: desiredDeploymentId };
    const { digest } = (await service.client.getDeployment({ params })).image ?? {};
    expect(deployment.manifest.spec.image).toBe(image);
    const client = clientOf(service, neighbors);
    for (const reference of [image, `${host}/team/bot@${digest}`]) {
      const agent = await service.deploy('taken', reference, null, client);
      expect(agent).toMatchObject({ activeDeploymentId: null, errors: [{ code: 'PCC_IMAGE_PULL_UNAUTHORIZED' }] });
    }
  });

  it('has credentials that are stored nowhere in plain text', async () => {
    const paths = await listLiveFiles(service.dataDirectory);
    expect(paths.length).toBeGreaterThan(3);
    const inspectContainers = async () => {
      const ids = (await engine.run('ps', '-aq')).split('\n').filter((id) => id !== '');
      return ids.length > 0 && (await engine.run('inspect', ...ids));
    };
    // The service may remove a container between the two commands, or have none for a moment.
    const containers = await vi.waitUntil(() => inspectContainers().catch(() => false as const));
    const places = new Map([
      ['log', service.logLines.join('')],
      ['containers', containers],
      ['images', await engine.run('image', 'inspect', ...(await engine.run('images', '-q')).split('\n'))],
      ['network', await engine.run('network', 'inspect', ...(await engine.run('network', 'ls', '-q')).split('\n'))],
    ]);
    for (const path of paths) places.set(path, (await readLiveFile(path)).toString('latin1'));
    const leaks = [credentials, wrongCredentials].flatMap(listLeakableCredentialEncodings);
    expect([...places].filter(([, text]) => leaks.some((leak) => text.includes(leak))).map(([place]) => place)).toEqual(
      [],
    );
  });
});
