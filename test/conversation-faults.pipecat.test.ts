import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFailed } from 'vitest';
import { setUpProject } from '../packages/cli/test/generated-bots/generated-project.ts';
import { phoneBotOptions } from '../packages/cli/test/generated-bots/phone-bot.ts';
import { callBot } from '../packages/cli/test/generated-bots/phone-call.ts';
import { startStandInVendors } from '../packages/cli/test/stand-in-vendors/stand-in-vendors.ts';
import type { VendorBehavior } from '../packages/cli/test/stand-in-vendors/vendor-behavior.ts';
import { startRecordedBot } from './recorded-bot.ts';

/** Tools as a user would write them: the text of the generated bot before, and after its author has added them. */
const additions = [
  ['    llm = OpenAILLMService(\n', '    llm = OpenAILLMService(\n        function_call_timeout_secs=0.2,\n'],
  [
    '    context = LLMContext()\n',
    `    async def open_door(params) -> None:
        """Open the door."""
        raise ValueError("The door is locked.")

    async def wait_for_door(params) -> None:
        """Wait until the door is open."""
        await asyncio.Event().wait()

    context = LLMContext(tools=[open_door, wait_for_door])
`,
  ],
  ['import os\n', 'import asyncio\nimport os\n'],
] as const;

/** One bot process for all calls, because a call takes a second, and the start of the bot several. */
const standIns = await startStandInVendors();
const project = await setUpProject(phoneBotOptions, ['evals'], async (directory) => {
  const file = join(directory, 'bot.py');
  let text = await readFile(file, 'utf8');
  for (const [before, after] of additions) {
    expect(text).toContain(before);
    text = text.replace(before, after);
  }
  await writeFile(file, text);
});
const bot = await startRecordedBot(project, standIns);
afterAll(async () => {
  await bot.stop();
  await project.remove();
  await standIns.close();
});

/** Calls the bot while the vendors behave as given, and hangs up when `isOver` is fulfilled. Resolves when the session has ended. */
async function call(behavior: VendorBehavior, isOver: () => Promise<boolean>, level = 'transcript'): Promise<void> {
  onTestFailed(async () => {
    process.stderr.write(await bot.describe());
  });
  standIns.behave(behavior);
  await bot.forget();
  const caller = await callBot(`ws://${bot.address}/ws`, {}, { 'bothost-conversation-level': level });
  await expect.poll(isOver).toBe(true);
  await caller.hangUp();
  await expect.poll(() => bot.read('end')).toHaveLength(1);
}

const hasErrors = async () => (await bot.read('error')).length > 0;
const hasSpoken = async () => (await bot.read('speech')).some(({ side, to }) => side === 'bot' && to !== null);

describe('the conversation of a generated bot whose vendor fails', () => {
  it.each<[string, VendorBehavior, readonly [service: string, category: string], () => Promise<boolean>]>([
    [
      'the rejected key of speech recognition',
      { rejectsKeyOf: 'deepgram' },
      ['DeepgramSTTService', 'authentication'],
      hasSpoken,
    ],
    [
      'the rejected key of the language model',
      { rejectsKeyOf: 'openai' },
      ['OpenAILLMService', 'authentication'],
      hasErrors,
    ],
    [
      'the rejected key of speech synthesis',
      { rejectsKeyOf: 'cartesia' },
      ['CartesiaTTSService', 'authentication'],
      hasErrors,
    ],
    ['a status 500 of the language model', { modelFailure: 'status-500' }, ['OpenAILLMService', 'server'], hasErrors],
    [
      'an error in the stream of the language model',
      { modelFailure: 'error-in-stream' },
      ['OpenAILLMService', 'server'],
      hasErrors,
    ],
    [
      'a cut stream of the language model',
      { modelFailure: 'cut-stream' },
      ['OpenAILLMService', 'connectivity'],
      hasErrors,
    ],
  ])('has %s once, with its service and category', async (_, behavior, [service, category], isOver) => {
    await call(behavior, isOver);
    expect(await bot.read('error')).toMatchObject([
      { service: expect.stringMatching(new RegExp(`^${service}#\\d+$`)), category, message: expect.any(String) },
    ]);
  });

  it('has a failing tool once, and the error of the bot that calls it', async () => {
    await call({ calledTool: 'open_door' }, hasSpoken);
    const tools = await bot.read('tool');
    expect(tools).toMatchObject([{ name: 'open_door', state: 'failed', message: 'ValueError: The door is locked.' }]);
    const error = { service: expect.stringMatching(/^OpenAILLMService#/), category: 'application', turn: 0 };
    expect(await bot.read('error')).toMatchObject([{ ...error, exceptionType: 'ValueError' }]);
  });

  it('has a tool that times out once', async () => {
    await call({ calledTool: 'wait_for_door' }, hasSpoken);
    const [tool, ...others] = await bot.read('tool');
    expect(others).toEqual([]);
    expect(tool).toMatchObject({ name: 'wait_for_door', state: 'timed-out', turn: 0 });
    expect((tool?.to ?? 0) - (tool?.from ?? 0)).toBeGreaterThan(190);
    expect(await bot.read('error')).toEqual([]);
  });

  it('has the type of an error at the level timings, but not its message', async () => {
    await call({ calledTool: 'open_door' }, hasSpoken, 'timings');
    expect(await bot.read('error')).toEqual([expect.not.objectContaining({ message: expect.anything() })]);
    expect(JSON.stringify([await bot.read('error'), await bot.read('tool')])).not.toContain('locked');
  });
});
