import { parseImageReference } from '@bothost/contract';
import { z } from 'zod';
import { type PreparedProject, ProjectPreparationError } from '../runtime.ts';
import type { Pod } from './pod-schema.ts';
import { containerName } from './pod-status.ts';

const schema = z.object({
  id: z.string(),
  /** The reference with which the image was deployed. */
  reference: z.string(),
  /** The reference with which pods are created. It has the digest once a pod has run the image. */
  image: z.string(),
  /** Undefined until a node has pulled the image with the credentials of this deployment. */
  digest: z.string().optional(),
});

/** What `prepare` returns to the server. */
type PreparedImage = z.output<typeof schema>;

/** Checks the form of a reference. Nodes pull the image, so whether it exists is known when the first pod starts. */
export function prepareImage(id: string, text: string): PreparedImage & PreparedProject {
  const reference = parseImageReference(text);
  if ('problem' in reference) {
    throw new ProjectPreparationError(
      `"${text}" is not the name of an image, such as ghcr.io/team/bot:1.4: ${reference.problem}.`,
      { imageCode: 'PCC_IMAGE_NOT_FOUND' },
    );
  }
  return { id, reference: text, image: reference.text.replace(/^http:\/\//, '') };
}

export const parsePreparedImage = (prepared: PreparedProject): PreparedImage => schema.parse(prepared);

/** Adds the digest of the image that a pod runs. Returns null if it is known already, or if the image is in no registry. */
export function addDigest(prepared: PreparedImage, pod: Pod): (PreparedImage & PreparedProject) | null {
  if (prepared.digest !== undefined) return null;
  const { imageID = '' } = pod.status.containerStatuses?.find(({ name }) => name === containerName) ?? {};
  const [, digest] = /@(sha256:[0-9a-f]{64})$/.exec(imageID) ?? [];
  const reference = parseImageReference(prepared.image);
  if (digest === undefined || 'problem' in reference) return null;
  const image = `${reference.name.replace(/^http:\/\//, '')}@${digest}`;
  return { id: prepared.id, reference: prepared.reference, image, digest };
}
