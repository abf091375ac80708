import { describe, expect, it } from 'vitest';
import { describeUnless } from '../skip-with-reason.ts';
import { evaluateInInstance, openRuntimeFixture, type RuntimeSetup } from './fixture.ts';

const files = [
  ['lines', 'BOTHOST_CONVERSATION_FILE'],
  ['recording', 'BOTHOST_RECORDING_FILE'],
] as const;

const append = (variable: string, text: string) =>
  `require('fs').appendFileSync(process.env.${variable}, ${JSON.stringify(text)}); null`;

export function defineConversationTests(setup: RuntimeSetup): void {
  describeUnless(setup.lacksConversationFiles ?? null, 'the files of the conversation of a bot', () => {
    it('are read from an offset while the bot runs, after a restart of the server, and after the end until forget', async () => {
      const { start, runtime, closeServer, restartServer } = await openRuntimeFixture(setup);
      const read = async (file: 'lines' | 'recording', offset: number) => {
        const part = await runtime().conversations.read('talk', file, offset, 100);
        return part?.kind === 'bytes' ? part.bytes.toString() : part;
      };
      const address = await start('talk');
      for (const [file, variable] of files) {
        expect(await read(file, 0)).toBe('');
        await evaluateInInstance(address, append(variable, `one ${file}\n`));
        expect(await read(file, 4)).toBe(`${file}\n`);
      }
      await closeServer();
      for (const [, variable] of files) await evaluateInInstance(address, append(variable, 'two\n'));
      await restartServer();
      for (const [file] of files) expect(await read(file, 4)).toBe(`${file}\ntwo\n`);
      await runtime().stop('talk', 0);
      for (const [file] of files) expect(await read(file, 0)).toBe(`one ${file}\ntwo\n`);
      await runtime().forget('talk');
      for (const [file] of files) expect(await read(file, 0)).toBeNull();
    });
  });
}

/** For drivers whose bots have the files in a directory of this machine. */
export function defineLocalConversationTests(setup: RuntimeSetup): void {
  describe('the files of the conversation of a bot on this machine', () => {
    it.each(files)('%s are not read if the bot gives the file a second name', async (file, variable) => {
      const { start, runtime } = await openRuntimeFixture(setup);
      const address = await start('linked');
      await evaluateInInstance(
        address,
        `require('fs').linkSync(process.env.${variable}, process.env.HOME + '/second'); null`,
      );
      expect(await runtime().conversations.read('linked', file, 0, 100)).toEqual({ kind: 'replaced' });
    });
  });
}
