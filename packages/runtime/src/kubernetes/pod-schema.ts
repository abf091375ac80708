import { z } from 'zod';

/** The parts of the Kubernetes API that the driver reads. */

const conditionSchema = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string().optional(),
  message: z.string().optional(),
});

const containerStateSchema = z.object({
  waiting: z.object({ reason: z.string().optional(), message: z.string().optional() }).optional(),
  running: z.object({}).optional(),
  terminated: z
    .object({
      exitCode: z.number(),
      reason: z.string().optional(),
      message: z.string().optional(),
      /** Whole seconds. */
      finishedAt: z.string().nullish(),
    })
    .optional(),
});

export const podSchema = z.object({
  metadata: z.object({
    name: z.string(),
    uid: z.string(),
    resourceVersion: z.string().regex(/^\d+$/),
    labels: z.record(z.string(), z.string()).optional(),
    deletionTimestamp: z.string().optional(),
  }),
  spec: z.object({
    imagePullSecrets: z.array(z.object({ name: z.string().optional() })).optional(),
    containers: z.array(
      z.object({
        name: z.string(),
        envFrom: z.array(z.object({ secretRef: z.object({ name: z.string() }).optional() })).optional(),
      }),
    ),
  }),
  status: z
    .object({
      phase: z.string().optional(),
      reason: z.string().optional(),
      message: z.string().optional(),
      podIP: z.string().optional(),
      hostIP: z.string().optional(),
      conditions: z.array(conditionSchema).optional(),
      containerStatuses: z
        .array(z.object({ name: z.string(), imageID: z.string(), state: containerStateSchema.optional() }))
        .optional(),
    })
    .default({}),
});
export type Pod = z.output<typeof podSchema>;

/** A pod of which only the name and the version are checked, so that one unexpected pod does not hide the others. */
const objectSchema = z.looseObject({ metadata: z.looseObject({ name: z.string(), resourceVersion: z.string() }) });
export type UncheckedPod = z.output<typeof objectSchema>;

export const podListSchema = z.object({
  metadata: z.object({ resourceVersion: z.string(), continue: z.string().optional() }),
  items: z.array(objectSchema),
});

/** A line of a watch (Kubernetes API Concepts, "Efficient detection of changes"). A bookmark has only a version. */
export const watchEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['ADDED', 'MODIFIED', 'DELETED']), object: objectSchema }),
  z.object({ type: z.literal('BOOKMARK'), object: z.object({ metadata: z.object({ resourceVersion: z.string() }) }) }),
  z.object({
    type: z.literal('ERROR'),
    object: z.object({ code: z.number().optional(), message: z.string().optional() }),
  }),
]);
