import { type DeploymentProblem, type ImageErrorCode, parseImageReference } from '@bothost/contract';
import { formatRegistry } from '../secrets/pull-secret.ts';

/** The image of a deployment that could not be used. */
export type FailedImage = {
  readonly agentName: string;
  readonly reference: string;
  readonly pullSecret: string | null;
};

/**
 * Explains to the agent's owner why an image cannot be used, and what to do. `detail` is a sentence of the runtime driver.
 */
export function describeImageProblem(
  code: ImageErrorCode,
  { agentName, reference, pullSecret }: FailedImage,
  detail: string,
): { readonly code: DeploymentProblem; readonly message: string } {
  const image = parseImageReference(reference);
  const registry = 'problem' in image ? 'the registry' : formatRegistry(image);
  const create = `botcli cloud secrets image-pull-secret ${pullSecret ?? 'NAME'} ${registry} USER:TOKEN`;
  const deploy = `botcli cloud deploy ${agentName} ${reference}`;
  const withSecret = `Create the image pull secret with "${create}", then deploy with "${deploy} --credentials NAME".`;
  switch (code) {
    case 'PCC_IMAGE_NOT_FOUND':
      return {
        code,
        message:
          pullSecret === null
            ? `The image ${reference} does not exist in ${registry}, or it is private. Check its name and tag. If it is private: ${withSecret}`
            : `The image ${reference} does not exist in ${registry}, or the credentials of ${pullSecret} may not pull it. Check its name and tag, and the rights of the user.`,
      };
    case 'PCC_IMAGE_PULL_UNAUTHORIZED':
      return {
        code,
        message:
          pullSecret === null
            ? `${registry} requires credentials to pull ${reference}. ${withSecret}`
            : `${registry} rejects the credentials of the image pull secret ${pullSecret}, or they may not pull ${reference}. Replace them with "${create}", then deploy again.`,
      };
    case 'PCC_IMAGE_PULL_RATE_LIMIT':
      return {
        code,
        message:
          pullSecret === null
            ? `${registry} limits how many images it sends without credentials. Wait, or: ${withSecret}`
            : `${registry} limits how many images it sends to the user of ${pullSecret}. Wait, then deploy again.`,
      };
    case 'PCC_IMAGE_TOO_LARGE':
      return {
        code,
        message: `${detail} Make the image smaller, or ask the operator to raise the limit.`,
      };
    case 'PCC_INVALID_IMAGE_PLATFORM':
      return {
        code,
        message: `${detail} Push an image for the platform of this region, and deploy again.`,
      };
    case 'PCC_IMAGE_PULL_UNKNOWN_ERROR':
      return { code, message: detail };
  }
}
