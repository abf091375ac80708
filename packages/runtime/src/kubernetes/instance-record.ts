import { z } from 'zod';

export const instanceRecordSchema = z.object({
  podUid: z.string(),
  deploymentId: z.string(),
  isReady: z.boolean(),
  isClaimed: z.boolean().default(false),
});

/** What is left of an instance if its pod is deleted by others. It is written when the bot runs. */
export type InstanceRecord = z.output<typeof instanceRecordSchema>;
