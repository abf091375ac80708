import { z } from 'zod';
import type { PreparedProject } from '../runtime.ts';

const schema = z.object({
  id: z.string(),
  /** The reference with which the image was deployed. */
  reference: z.string(),
  /** The name under which the engine has the image: with its digest, or the id of an image that only the engine has. */
  image: z.string(),
  digest: z.string(),
});

/** What `prepare` returns to the server. */
export type PreparedImage = z.output<typeof schema>;

export const parsePreparedImage = (prepared: PreparedProject): PreparedImage => schema.parse(prepared);
