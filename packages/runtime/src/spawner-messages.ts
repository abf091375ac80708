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

/** A message to the spawner about one program. `id` is the server's id of the program. */
export type SpawnerRequestMessage = { readonly id: number; readonly request: SpawnerRequest };

const exitSchema = z.object({ code: z.number().nullable(), signal: z.string().nullable() });

const eventSchema = z.discriminatedUnion('type', [
  /** The response to `start`. `exited` follows. */
  z.object({ type: z.literal('started'), pid: z.number(), startTicks: z.number() }),
  z.object({ type: z.literal('exited'), exit: exitSchema }),
  /** The response to `run`. */
  z.object({ type: z.literal('completed'), result: exitSchema.extend({ stdout: z.string(), stderr: z.string() }) }),
  /** The program could not be started. `code` is that of a system error, such as ENOENT. */
  z.object({ type: z.literal('failed'), message: z.string(), code: z.string().optional() }),
]);

/** A message from the spawner. */
export const spawnerEventMessageSchema = z.object({ id: z.number(), event: eventSchema });

export type SpawnerEvent = z.infer<typeof eventSchema>;
export type SpawnerEventMessage = z.infer<typeof spawnerEventMessageSchema>;
