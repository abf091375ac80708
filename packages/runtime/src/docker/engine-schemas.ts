import { z } from 'zod';

/** The parts of the responses of the Docker Engine API that the driver reads. */

export const infoSchema = z.object({ OperatingSystem: z.string(), SecurityOptions: z.array(z.string()).nullish() });

export const versionSchema = z.object({
  Os: z.string(),
  Arch: z.string(),
  Components: z.array(z.object({ Name: z.string() })).nullish(),
});

export const networkSchema = z.object({
  Labels: z.record(z.string(), z.string()).nullish(),
  Options: z.record(z.string(), z.string()).nullish(),
});

const endpointsSchema = z.object({
  Networks: z.record(z.string(), z.object({ IPAddress: z.string().nullish() })).nullish(),
});

export const containerListSchema = z.array(
  z.object({
    Id: z.string(),
    State: z.string(),
    Labels: z.record(z.string(), z.string()).nullish(),
    /** Bytes of the writable layer, if they were requested. Missing while the container has written nothing. */
    SizeRw: z.number().nullish(),
    Mounts: z.array(z.object({ Type: z.string(), Name: z.string().nullish() })).nullish(),
  }),
);

export const volumeUsageSchema = z.object({
  Volumes: z.array(z.object({ Name: z.string(), UsageData: z.object({ Size: z.number() }).nullish() })).nullish(),
});

export const containerSchema = z.object({
  Id: z.string(),
  Config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }),
  State: z.object({
    Status: z.string(),
    Running: z.boolean(),
    OOMKilled: z.boolean(),
    ExitCode: z.number(),
    FinishedAt: z.string(),
  }),
  NetworkSettings: endpointsSchema,
});
export type EngineContainer = z.output<typeof containerSchema>;

export const createdSchema = z.object({ Id: z.string() });

export const eventSchema = z.object({
  Action: z.string(),
  Actor: z.object({ ID: z.string(), Attributes: z.record(z.string(), z.string()).nullish() }),
  timeNano: z.number(),
});
export type EngineEvent = z.output<typeof eventSchema>;

export const statsSchema = z.object({
  read: z.string(),
  cpu_stats: z.object({ cpu_usage: z.object({ total_usage: z.number() }) }),
  memory_stats: z.object({ usage: z.number().optional(), stats: z.record(z.string(), z.number()).optional() }),
});

export const distributionSchema = z.object({
  Descriptor: z.object({ digest: z.string().regex(/^sha256:[0-9a-f]{64}$/) }),
  Platforms: z.array(z.object({ architecture: z.string(), os: z.string() })).nullish(),
});

export const imageSchema = z.object({ Id: z.string(), Os: z.string(), Architecture: z.string(), Size: z.number() });

export const pullProgressSchema = z.object({
  status: z.string().optional(),
  id: z.string().optional(),
  progressDetail: z.object({ current: z.number().optional(), total: z.number().optional() }).optional(),
  error: z.string().optional(),
});
