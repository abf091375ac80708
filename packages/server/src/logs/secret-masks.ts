import { createSecretMask, type SecretMask } from './mask.ts';

/** The secret values to mask in a deployment's output. `isComplete`: `values` contains all of them. */
export type SecretsLookup = (
  deploymentId: string,
) => Promise<{ readonly values: readonly string[]; readonly isComplete: boolean }>;

/** Creates the masks for one request. Decrypts the secrets of a deployment once, when the deployment's first output is read. */
export function createSecretMasks(secretsOf: SecretsLookup) {
  const masks = new Map<string, Promise<SecretMask>>();
  let areComplete = true;
  const load = async (deploymentId: string) => {
    const { values, isComplete } = await secretsOf(deploymentId);
    areComplete &&= isComplete;
    return createSecretMask(values);
  };
  return {
    of: (deploymentId: string): Promise<SecretMask> => {
      const mask = masks.get(deploymentId) ?? load(deploymentId);
      masks.set(deploymentId, mask);
      return mask;
    },
    areComplete: () => areComplete,
  };
}
