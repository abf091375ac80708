import { RuntimeUnavailableError } from '../runtime.ts';
import { type EngineClient, isEngineError } from './engine-client.ts';
import { networkSchema } from './engine-schemas.ts';
import { hostLabel } from './labels.ts';

const isolation = { 'com.docker.network.bridge.enable_icc': 'false' };

/** Name of the network and of its bridge interface (at most 15 characters). Firewall rules match it with `bothost-+`. */
export const getNetworkName = (hostId: string) => `bothost-${hostId.replaceAll('-', '').slice(-6)}`;

/**
 * Creates the network on which instances reach the Internet, but not each other. Idempotent.
 *
 * @throws RuntimeUnavailableError if another network has the name
 */
export async function ensureNetwork(engine: EngineClient, hostId: string): Promise<void> {
  const name = getNetworkName(hostId);
  const found = await engine.call('GET', `/networks/${name}`).catch((error: unknown) => {
    if (isEngineError(error, 404)) return null;
    throw error;
  });
  if (found === null) {
    await engine.call('POST', '/networks/create', {
      body: {
        Name: name,
        CheckDuplicate: true,
        Driver: 'bridge',
        Options: { ...isolation, 'com.docker.network.bridge.name': name },
        Labels: { [hostLabel]: hostId },
      },
    });
    return;
  }
  const { Labels, Options } = networkSchema.parse(found);
  if (Labels?.[hostLabel] === hostId && Options?.['com.docker.network.bridge.enable_icc'] === 'false') return;
  throw new RuntimeUnavailableError(
    `The Docker network "${name}" does not belong to this service or does not isolate containers. Remove it with "docker network rm ${name}".`,
  );
}

export async function removeUnusedNetwork(engine: EngineClient, hostId: string): Promise<void> {
  await engine.call('DELETE', `/networks/${getNetworkName(hostId)}`).catch(() => undefined);
}
