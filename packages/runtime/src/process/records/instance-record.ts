import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type InstanceEnd, instanceEndSchema } from '../../instance-end.ts';
import { type ConversationFiles, fileIdentitySchema } from '../../output/conversation-files.ts';
import { writeJsonAtomically } from '../../write-json-atomically.ts';
import { processIdentitySchema } from '../proc/process-identity.ts';
import { cgroupsSchema, containmentSchema } from './contained-processes.ts';

const storedRecordSchema = z.object({
  version: z.literal(1),
  instanceId: z.string(),
  deploymentId: z.string(),
  createdAt: z.iso.datetime(),
  bootId: z.string(),
  /** The TCP port on which the bot must listen, or 0 if the bot gets no port. */
  port: z.int(),
  /** The path of the bot's Unix socket. Null if the program does not listen, and in records of earlier versions. */
  socket: z.string().nullable().default(null),
  limits: z.object({ cpuMillicores: z.number(), memoryBytes: z.number() }),
  containment: containmentSchema,
  account: z.object({ uid: z.int(), gid: z.int() }).nullable(),
  cgroups: cgroupsSchema.nullable(),
  /** The supervisor. Null while the processes are being created. `keeper` is the key that earlier versions wrote. */
  keeper: processIdentitySchema.nullable(),
  /** The process of a forked bot, because a fork server's supervisor has several instances. Null if it was spawned. */
  main: processIdentitySchema.nullable().default(null),
  address: z.union([z.object({ socket: z.string() }), z.object({ host: z.string(), port: z.int() })]).nullable(),
  /**
   * The owner of the instance's project: `organization-` and the organization's id, or, for an agent that is served from a
   * directory of this machine, `directory-` and a hash of its path. Missing in records of earlier versions.
   */
  owner: z.string().optional(),
  /** The files of the conversation. Null for a program that has none, and in records of earlier versions. */
  conversation: fileIdentitySchema.nullable().default(null),
  recording: fileIdentitySchema.nullable().default(null),
});
const recordSchema = storedRecordSchema.transform(({ keeper, ...record }) => ({ ...record, supervisor: keeper }));

/** What the next server process needs to adopt an instance. Contains no environment variables, because they can be secret. */
export type InstanceRecord = z.infer<typeof recordSchema>;

export type InstanceFiles = {
  readonly directory: string;
  readonly record: string;
  readonly end: string;
  readonly exit: string;
  /** Directory of the output file and its timestamps. The server moves it after the instance has ended. */
  readonly log: string;
  readonly output: string;
  /** Directory of the conversation's files. The bot cannot change it if the bot has its own account. */
  readonly conversationDirectory: string;
  readonly conversation: ConversationFiles<string>;
  /** A file that exists if the service killed the bot for its memory use, which the exit status does not show. */
  readonly memoryKill: string;
  /**
   * A file that the service writes when it kills the bot for exceeding a disk limit. It contains a sentence that names the limit.
   */
  readonly diskKill: string;
  readonly home: string;
  /** If bots have private temporary directories, the bot sees these two directories as `/tmp` and `/var/tmp`. */
  readonly tmp: string;
  readonly varTmp: string;
  /** Directory of the bot's socket. Only the bot can enter it until the socket is bound. */
  readonly socketDirectory: string;
  readonly socket: string;
};

export function getInstanceFiles(instancesDirectory: string, instanceId: string): InstanceFiles {
  const directory = join(instancesDirectory, instanceId);
  return {
    directory,
    record: join(directory, 'spec.json'),
    end: join(directory, 'end.json'),
    exit: join(directory, 'exit'),
    log: join(directory, 'log'),
    output: join(directory, 'log/output'),
    conversationDirectory: join(directory, 'conversation'),
    conversation: {
      lines: join(directory, 'conversation/lines'),
      recording: join(directory, 'conversation/recording'),
    },
    memoryKill: join(directory, 'memory-kill'),
    diskKill: join(directory, 'disk-kill'),
    home: join(directory, 'home'),
    tmp: join(directory, 'tmp'),
    varTmp: join(directory, 'var-tmp'),
    socketDirectory: join(directory, 'run'),
    socket: join(directory, 'run/bot'),
  };
}

export function listWritableDirectories(files: InstanceFiles): readonly string[] {
  return [files.home, files.tmp, files.varTmp, files.socketDirectory, files.log, files.conversationDirectory];
}

export function writeInstanceRecord(files: InstanceFiles, record: InstanceRecord): void {
  const { supervisor, main, socket, conversation, recording, ...rest } = record;
  const stored: z.input<typeof recordSchema> = {
    ...rest,
    ...(socket === null ? {} : { socket }),
    ...(main === null ? {} : { main }),
    ...(conversation === null ? {} : { conversation }),
    ...(recording === null ? {} : { recording }),
    keeper: supervisor,
  };
  writeJsonAtomically(files.record, stored);
}

/** Call this once, after the last process of the instance has ended. */
export function writeInstanceEnd(files: InstanceFiles, end: InstanceEnd): void {
  writeJsonAtomically(files.end, end);
}

/** Reads the record of an instance. Null if the file is missing or incomplete. */
export function readInstanceRecord(files: InstanceFiles): InstanceRecord | null {
  return parseFile(files.record, recordSchema);
}

export function readInstanceEnd(files: InstanceFiles): InstanceEnd | null {
  return parseFile(files.end, instanceEndSchema);
}

function parseFile<T>(path: string, schema: z.ZodType<T>): T | null {
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}
