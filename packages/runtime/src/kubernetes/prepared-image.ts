import { parseImageReference } from '@bothost/contract';
import { z } from 'zod';
import { type PreparedProject, ProjectPreparationError } from '../runtime.ts';
import type { Pod } from './pod-schema.ts';
import { containerName } from './pod-status.ts';

const schema = z.object({
  id: z.string(),
  reference: z.string(),
  image: z.string(),
  digest: z.string().optional(),
});

/** What `prepare` returns to the server. */
export type PreparedImage = {
  readonly id: string;
  /** The reference with which the image was deployed. */
  readonly reference: string;
  /** The reference with which pods are created. It has the digest once a pod has run the image. */
  readonly image: string;
  /** Undefined until a node has pulled the image with the credentials of this deployment. */
  readonly digest?: string | undefined;
};

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

export function parsePreparedImage(prepared: PreparedProject): PreparedImage {
  return schema.parse(prepared);
}

/** Adds the digest of the image that a pod runs. Returns null if it is known already, or if the image is in no registry. */
export function addDigest(prepared: PreparedImage, pod: Pod): (PreparedImage & PreparedProject) | null {
  if (prepared.digest !== undefined) return null;
  const { imageID = '' } = pod.status.containerStatuses?.find(({ name }) => name === containerName) ?? {};
  const [, digest] = /@(sha256:[0-9a-f]{64})$/.exec(imageID) ?? [];
  const reference = parseImageReference(prepared.image);
  if (digest === undefined || 'problem' in reference) return null;
  const { id, reference: text } = prepared;
  return { id, reference: text, image: `${reference.name.replace(/^http:\/\//, '')}@${digest}`, digest };
}
