import { z } from 'zod';
import type { PreparedProject } from '../runtime.ts';

const schema = z.object({
  id: z.string(),
  reference: z.string(),
  image: z.string(),
  digest: z.string(),
});

/** What `prepare` returns to the server. */
export type PreparedImage = {
  readonly id: string;
  /** The reference with which the image was deployed. */
  readonly reference: string;
  /** The name under which the engine has the image: with its digest, or the id of an image that only the engine has. */
  readonly image: string;
  readonly digest: string;
};

export function parsePreparedImage(prepared: PreparedProject): PreparedImage {
  return schema.parse(prepared);
}
