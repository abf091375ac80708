import { describe, expect, it } from 'vitest';
import { evaluateInInstance, openRuntimeFixture, type RuntimeSetup } from './fixture.ts';

const append = (text: string) =>
  `require('fs').appendFileSync(process.env.BOTHOST_CONVERSATION_FILE, ${JSON.stringify(text)}); null`;

export function defineConversationTests(setup: RuntimeSetup): void {
  describe('the conversation file of a bot', () => {
    it('is read from an offset while the bot runs, after a restart of the server, and after the end until forget', async () => {
      const { start, runtime, closeServer, restartServer } = await openRuntimeFixture(setup);
      const read = async (offset: number) => {
        const part = await runtime().conversations.read('talk', offset, 100);
        return part?.kind === 'bytes' ? part.bytes.toString() : part;
      };
      const address = await start('talk');
      expect(await read(0)).toBe('');
      await evaluateInInstance(address, append('one\n'));
      expect(await read(0)).toBe('one\n');
      await closeServer();
      await evaluateInInstance(address, append('two\n'));
      await restartServer();
      expect(await read(4)).toBe('two\n');
      await runtime().stop('talk', 0);
      expect(await read(0)).toBe('one\ntwo\n');
      await runtime().forget('talk');
      expect(await read(0)).toBeNull();
    });
  });
}

/** For drivers whose bots have the file in a directory of this machine. */
export function defineLocalConversationTests(setup: RuntimeSetup): void {
  describe('the conversation file of a bot on this machine', () => {
    it('is not read if the bot gives it a second name', async () => {
      const { start, runtime } = await openRuntimeFixture(setup);
      const address = await start('linked');
      await evaluateInInstance(
        address,
        `require('fs').linkSync(process.env.BOTHOST_CONVERSATION_FILE, process.env.HOME + '/second'); null`,
      );
      expect(await runtime().conversations.read('linked', 0, 100)).toEqual({ kind: 'replaced' });
    });
  });
}
