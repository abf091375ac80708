import { z } from 'zod';

export type ProgramOptions = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
};

export type RunRequest = {
  readonly type: 'run';
  readonly command: readonly string[];
  readonly options: ProgramOptions;
  readonly stallMs: number | undefined;
};

export type StartRequest = {
  readonly type: 'start';
  readonly command: readonly string[];
  readonly options: ProgramOptions;
  readonly outputPath: string;
  readonly exitPath: string;
  readonly input: string;
};

export type SpawnerRequest =
  | RunRequest
  | StartRequest
  | { readonly type: 'closeInput'; readonly text: string }
  | { readonly type: 'kill' };

/** A message to the spawner, the process that starts programs for the server. `id` identifies the program. */
export type SpawnerRequestMessage = { readonly id: number; readonly request: SpawnerRequest };

const exitSchema = z.object({ code: z.number().nullable(), signal: z.string().nullable() });

const eventSchema = z.discriminatedUnion('type', [
  /** The program of a `start` request has started. The event `exited` follows when the program ends. */
  z.object({ type: z.literal('started'), pid: z.number(), startTicks: z.number() }),
  z.object({ type: z.literal('exited'), exit: exitSchema }),
  /** The program of a `run` request has ended. */
  z.object({ type: z.literal('completed'), result: exitSchema.extend({ stdout: z.string(), stderr: z.string() }) }),
  /** The program could not be started. `code` is the code of the system error, such as ENOENT, if there was one. */
  z.object({ type: z.literal('failed'), message: z.string(), code: z.string().optional() }),
]);

export const spawnerEventMessageSchema = z.object({ id: z.number(), event: eventSchema });

export type SpawnerEvent = z.infer<typeof eventSchema>;
export type SpawnerEventMessage = z.infer<typeof spawnerEventMessageSchema>;
