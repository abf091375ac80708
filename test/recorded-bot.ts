import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { GeneratedProject } from '../packages/cli/test/generated-bots/generated-project.ts';
import { findFreePort, startProgram } from '../packages/cli/test/generated-bots/start-program.ts';
import type { StandInVendors } from '../packages/cli/test/stand-in-vendors/stand-in-vendors.ts';
import {
  BotConversationLine,
  type ConversationLineOf,
  getConversationLineKey,
} from '../packages/contract/src/index.ts';

const reachStandIns = fileURLToPath(
  new URL('../packages/cli/test/stand-in-vendors/reach_stand_ins.py', import.meta.url),
);
const host = fileURLToPath(new URL('../runtimes/python/src', import.meta.url));

type Kind = BotConversationLine['kind'];

/** A generated bot under the Python host, which writes the conversations of its sessions to one file, one after the other. */
export type RecordedBot = {
  /** `host:port` */
  readonly address: string;
  /** The recording of the latest session whose level was `recording`. */
  readonly audioFile: string;
  /** Returns the latest version of each line of a kind. Throws if a line does not have the form of the contract. */
  readonly read: <K extends Kind>(kind: K) => Promise<readonly ConversationLineOf<K>[]>;
  /** Leaves out the lines of earlier sessions from now on. */
  readonly forget: () => Promise<void>;
  /** What the bot printed, and its conversation file. */
  readonly describe: () => Promise<string>;
  readonly stop: () => Promise<void>;
};

export async function startRecordedBot(
  project: GeneratedProject,
  standIns: Pick<StandInVendors, 'address'>,
): Promise<RecordedBot> {
  const folder = await mkdtemp(join(tmpdir(), 'bothost-conversation-'));
  const [file, audioFile] = [join(folder, 'conversation'), join(folder, 'recording')];
  for (const created of [file, audioFile]) await writeFile(created, '');
  const address = `127.0.0.1:${await findFreePort()}`;
  const child = project.spawn(['--env-file', '.env', 'python', '-m', 'bothost_shim'], {
    OPENAI_BASE_URL: `http://${standIns.address}/v1`,
    STAND_INS: standIns.address,
    PIPECAT_SETUP_FILES: reachStandIns,
    PYTHONPATH: host,
    BOT_HOST: '127.0.0.1',
    PORT: address.split(':')[1],
    BOTHOST_CONVERSATION_FILE: file,
    BOTHOST_RECORDING_FILE: audioFile,
  });
  const bot = await startProgram(child, `http://${address}/readyz`);
  let skipped = 0;
  return {
    address,
    audioFile,
    read: async (kind) => {
      const text = (await readFile(file)).subarray(skipped).toString();
      const latest = new Map<string, BotConversationLine>();
      for (const [index, line] of text.split('\n').slice(0, -1).entries()) {
        const parsed = BotConversationLine.parse(JSON.parse(line));
        latest.set(getConversationLineKey(parsed) ?? String(index), parsed);
      }
      const isOfKind = (line: BotConversationLine): line is ConversationLineOf<typeof kind> => line.kind === kind;
      return [...latest.values()].filter(isOfKind);
    },
    forget: async () => {
      skipped = (await readFile(file)).length;
    },
    describe: async () => `${bot.output()}\n${await readFile(file, 'utf8')}`,
    stop: async () => {
      await bot.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** What each side said in each turn, and whether it was interrupted. Utterances that are still being spoken are left out. */
export async function listUtterances({ read }: Pick<RecordedBot, 'read'>): Promise<readonly string[]> {
  const said = (await read('said')).filter(({ to }) => to !== null);
  return said.map(({ turn, side, text, interrupted }) => `${turn} ${side}: ${text}${interrupted === true ? ' -' : ''}`);
}
